"""Plain and combined encodings."""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.positions.encodings.encoding import ClassVectors, Encoding, EncodingSettings


class NoPosition(EncodingSettings):
    """No position anywhere: the model sees a set."""

    name: ClassVar[str] = "none"
    summary: ClassVar[str] = "no position anywhere: the model sees a set"
    beyond: ClassVar[str] = "defined: nothing depends on the length"

    def build(self, capacity: int) -> Encoding:
        """The interface itself, which does nothing."""
        return Encoding()


class Combined(Encoding):
    """Several encodings at once: embeddings and rotations in turn, biases added.

    Class vectors can come from one of them only, since classes of two encodings are not the same.
    """

    def __init__(self, *parts: Encoding) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.extra_features = sum(part.extra_features for part in parts)

    def _each(self) -> list[Encoding]:
        return [part for part in self.parts if isinstance(part, Encoding)]

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """Embed by each in turn."""
        for part in self._each():
            x = part.embed(x, coordinates)
        return x

    def rotate(
        self,
        query: Float[Tensor, "*batch head token dim"],
        key: Float[Tensor, "*batch head token dim"],
        coordinates: Coordinates,
    ) -> tuple[Float[Tensor, "*batch head token dim"], Float[Tensor, "*batch head token dim"]]:
        """Rotate by each in turn."""
        for part in self._each():
            query, key = part.rotate(query, key, coordinates)
        return query, key

    def class_vectors(self, coordinates: Coordinates) -> ClassVectors | None:
        """Of the one part that has them."""
        found = [v for part in self._each() if (v := part.class_vectors(coordinates)) is not None]
        if len(found) > 1:
            raise ValueError("at most one of the combined encodings can have class vectors")
        return found[0] if found else None

    def bias(self, coordinates: Coordinates) -> Float[Tensor, "head query key"] | None:
        """Add the biases of all parts."""
        found = [b for part in self._each() if (b := part.bias(coordinates)) is not None]
        return sum(found[1:], start=found[0]) if found else None
