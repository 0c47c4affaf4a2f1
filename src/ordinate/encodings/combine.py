"""Plain and combined encodings."""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, Pairs


class NoPosition(EncodingSettings):
    """No position anywhere: the model sees a set.

    Example: `encoding = "none"`.
    """

    name: ClassVar[str] = "none"
    summary: ClassVar[str] = "no position anywhere: the model sees a set"
    extrapolation: ClassVar[str] = "defined: nothing depends on the length"
    source: ClassVar[str] = "Haviv et al. 2022, arXiv 2203.16634"

    def build(self, spec: BuildSpec) -> Encoding:
        """The interface itself, which does nothing."""
        return Encoding()


class Combined(Encoding):
    """Several encodings at once: embeddings, rotations and scores in turn, biases added.

    Classes of pairs can come from one of them only, since classes of two encodings are not the same.
    """

    def __init__(self, *parts: Encoding) -> None:
        super().__init__()
        self.parts = nn.ModuleList(parts)
        self.extra_features = sum(part.extra_features for part in parts)
        self.random = any(part.random for part in parts)
        self.reads_scores = any(part.reads_scores for part in parts)

    def _each(self) -> list[Encoding]:
        return [part for part in self.parts if isinstance(part, Encoding)]

    @property
    def rotates(self) -> bool:
        """Whether any of them does."""
        return any(part.rotates for part in self._each())

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

    def at_loop(self, loop: int) -> Encoding:
        """All parts in that loop."""
        parts = [part.at_loop(loop) for part in self._each()]
        same = all(one is other for one, other in zip(parts, self._each(), strict=True))
        return self if same else Combined(*parts)

    def pairs(self, coordinates: Coordinates, layer: int) -> tuple[Pairs, ...]:
        """Of the one part that has them."""
        found = [groups for part in self._each() if (groups := part.pairs(coordinates, layer))]
        if len(found) > 1:
            raise ValueError("at most one of the combined encodings can have classes of pairs")
        return found[0] if found else ()

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"] | None:
        """Add the biases of all parts."""
        found = [b for part in self._each() if (b := part.bias(coordinates, layer)) is not None]
        return sum(found[1:], start=found[0]) if found else None

    def scores(
        self, scores: Float[Tensor, "*batch head query key"], coordinates: Coordinates, layer: int
    ) -> Float[Tensor, "*batch head query key"]:
        """Through each in turn."""
        for part in self._each():
            scores = part.scores(scores, coordinates, layer)
        return scores

    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"] | None:
        """Add those of all parts; None where the bias of a part has none."""
        found = []
        for part in self._each():
            lags = part.lags(coordinates, layer)
            if lags is not None:
                found.append(lags)
            elif part.bias(coordinates, layer) is not None:
                return None
        return sum(found[1:], start=found[0]) if found else None
