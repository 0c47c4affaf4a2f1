"""The one interface of all positional encodings.

Position may enter a Transformer in four places, and each is a method with a default that does nothing:

| method | where | known by |
|---|---|---|
| `embed` | tokens, before the first layer | one-hot, sinusoidal, learned, Abacus |
| `rotate` | queries and keys | RoPE |
| `class_vectors` | vectors added to keys, one a class of pairs | Shaw, UPE |
| `bias` | scores | T5, ALiBi, KERPLE, FIRE |
"""

from abc import abstractmethod
from typing import ClassVar, NamedTuple

from jaxtyping import Float, Int
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.kinds import Kind


class ClassVectors(NamedTuple):
    """A class for every pair of tokens, and a vector for every class."""

    classes: Int[Tensor, "query key"]
    vectors: Float[Tensor, "cls dim"]


class Encoding(nn.Module):
    """No position anywhere: attention sees a set. Kinds override what they need."""

    extra_features: int = 0
    """How many columns `embed` appends to a token."""

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """Put positions into the tokens."""
        return x

    def rotate(
        self,
        query: Float[Tensor, "*batch head token dim"],
        key: Float[Tensor, "*batch head token dim"],
        coordinates: Coordinates,
    ) -> tuple[Float[Tensor, "*batch head token dim"], Float[Tensor, "*batch head token dim"]]:
        """Turn queries and keys by their positions."""
        return query, key

    def class_vectors(self, coordinates: Coordinates) -> ClassVectors | None:
        """Vectors that are added to keys: score = q . (k + vector[class[query, key]])."""
        return None

    def bias(self, coordinates: Coordinates) -> Float[Tensor, "head query key"] | None:
        """Numbers that are added to scores; one head stands for all."""
        return None


class EncodingSettings(Kind):
    """The part of a recipe that describes an encoding, and builds it."""

    beyond: ClassVar[str]
    """What happens at positions never trained."""

    @abstractmethod
    def build(self, capacity: int) -> Encoding:
        """Make the encoding for sequences of at most `capacity` tokens, the dummy included."""
