"""The one interface of all positional encodings.

Position may enter a Transformer in five places, and each is a method with a default that does nothing:

| method | where | known by |
|---|---|---|
| `embed` | tokens, before the first layer | one-hot, sinusoidal, learned, Abacus, position coupling |
| `rotate` | queries and keys | RoPE |
| `pairs` | vectors added to keys, one a class of pairs | Shaw, UPE, any relation |
| `bias` | scores | T5, ALiBi, KERPLE, FIRE |
| `scores` | scores, which it reads | DAPE |
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from jaxtyping import Float
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.kinds import Kind
from ordinate.relations import Pattern, Relation


@dataclass(frozen=True)
class BuildSpec:
    """What an encoding is built for: the model's sizes, and where its tokens stand in training."""

    trained: tuple[Coordinates, ...]
    """Coordinates of every trained length, the longest last; tokens that the model adds are included."""
    layers: int = 1
    heads: int = 1
    head_dim: int = 1
    """Width of a query and a key in one head."""

    @property
    def capacity(self) -> int:
        """Tokens of the longest sequence in training."""
        return max(len(coordinates) for coordinates in self.trained)


@dataclass(frozen=True)
class Terms:
    """What is known of a contest before an encoding is set for it: what it is built for, and how far it is measured."""

    spec: BuildSpec
    measured: Coordinates
    """Coordinates of the longest sequence that is measured."""
    columns: int = 32
    """As many as every encoding that appends columns to a token appends."""
    relation: Relation | None = None
    """The one that is declared for the task."""
    told: str = ""
    """What the relation gives away, or why there is none."""

    @property
    def trained(self) -> Coordinates:
        """Coordinates of the longest sequence in training."""
        return max(self.spec.trained, key=len)

    @property
    def distance(self) -> int:
        """The largest distance between tokens in training."""
        return max(1, self.spec.capacity - 1)

    @property
    def furthest(self) -> int:
        """Places of the longest field that is measured."""
        return 1 + max(self.measured.ordinate)


class NoPlaceError(OrdinateError):
    """An encoding cannot take part in a contest; the message says why."""


class Pairs(NamedTuple):
    """Neighbouring heads that share a pattern: where they look, and a vector for every class of pairs."""

    heads: int
    pattern: Pattern
    vectors: Float[Tensor, "#head cls dim"] | None = None


class Encoding(nn.Module):
    """No position anywhere: attention sees a set. Kinds override what they need."""

    extra_features: int = 0
    """How many columns `embed` appends to a token."""
    random: bool = False
    """Whether `embed` draws from the global generator in training mode: then no two calls are alike."""
    reads_scores: bool = False
    """Whether `scores` does anything: attention then lays out every pair, and calls it."""

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

    @property
    def rotates(self) -> bool:
        """Whether `rotate` does anything: attention then needs queries and keys one by one."""
        return type(self).rotate is not Encoding.rotate

    def pairs(self, coordinates: Coordinates, layer: int) -> tuple[Pairs, ...]:
        """Groups of heads with their patterns; score = q . (k + vector of the pair's class).

        An empty tuple stands for all pairs without vectors.
        """
        return ()

    def at_loop(self, loop: int) -> "Encoding":
        """The encoding in a loop of a looped model, with the same parameters; the same unless a kind says otherwise."""
        return self

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"] | None:
        """Numbers that are added to scores; one head stands for all."""
        return None

    def scores(
        self, scores: Float[Tensor, "*batch head query key"], coordinates: Coordinates, layer: int
    ) -> Float[Tensor, "*batch head query key"]:
        """Scores from scores, bias included and -inf where a pair is absent; called where `reads_scores` is true."""
        return scores

    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"] | None:
        """The bias of keys 0 .. n - 1 places back, -inf where they are absent; None where more than the lag decides.

        Causal attention without content is then a convolution.
        """
        return None


class EncodingSettings(Kind):
    """The part of a recipe that describes an encoding, and builds it."""

    extrapolation: ClassVar[str]
    """What happens at positions never trained."""
    source: ClassVar[str] = ""
    """Where it was published: authors, year, arXiv number."""

    @classmethod
    def for_contest(cls, terms: Terms) -> "EncodingSettings":
        """The settings that take part in a contest, those of a bare name unless a kind says otherwise.

        `NoPlaceError` is raised where an encoding cannot take part.
        """
        return cls()

    @abstractmethod
    def build(self, spec: BuildSpec) -> Encoding:
        """Make the encoding for a model; first weights come from the global generator."""
