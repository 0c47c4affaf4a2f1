"""No encoding at all, and several at once."""

from jaxtyping import Float
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import Encoding, Pairs
from ordinate.errors import OrdinateError


class NoPosition(
    Encoding,
    name="none",
    summary="no position anywhere: the model sees a set",
    extrapolation="defined: nothing depends on the length",
    source="Haviv et al. 2022, arXiv 2203.16634",
):
    """No position anywhere: the model sees a set.

    Example: `encoding = "none"`.
    """


class Combined(Encoding):
    """Several encodings at once: embeddings, rotations and scores in turn, biases added.

    Classes of pairs can come from one of them only, since classes of two encodings are not the same.
    """

    def __init__(self, *parts: Encoding) -> None:
        super().__init__()
        if sum(part.relates for part in parts) > 1:
            raise OrdinateError(
                "model.encoding: one encoding at most can have a relation, as shaw, upe, significance and pairwise do: "
                'write one pairwise encoding with a relation of kind = "union" or "product"'
            )
        self.parts = nn.ModuleList(parts)
        self.extra_features = sum(part.extra_features for part in parts)
        self.random = any(part.random for part in parts)
        self.reads_scores = any(part.reads_scores for part in parts)

    def _each(self) -> list[Encoding]:
        return [part for part in self.parts if isinstance(part, Encoding)]

    @property
    @override
    def relates(self) -> bool:
        return any(part.relates for part in self._each())

    @property
    @override
    def rotates(self) -> bool:
        return any(part.rotates for part in self._each())

    @override
    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        for part in self._each():
            x = part.embed(x, coordinates)
        return x

    @override
    def rotate(
        self,
        query: Float[Tensor, "*batch head token dim"],
        key: Float[Tensor, "*batch head token dim"],
        coordinates: Coordinates,
    ) -> tuple[Float[Tensor, "*batch head token dim"], Float[Tensor, "*batch head token dim"]]:
        for part in self._each():
            query, key = part.rotate(query, key, coordinates)
        return query, key

    @override
    def at_loop(self, loop: int) -> Encoding:
        parts = [part.at_loop(loop) for part in self._each()]
        same = all(one is other for one, other in zip(parts, self._each(), strict=True))
        return self if same else Combined(*parts)

    @override
    def pairs(self, coordinates: Coordinates, layer: int) -> tuple[Pairs, ...]:
        found = [groups for part in self._each() if (groups := part.pairs(coordinates, layer))]
        return found[0] if found else ()

    @override
    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"] | None:
        found = [b for part in self._each() if (b := part.bias(coordinates, layer)) is not None]
        return sum(found[1:], start=found[0]) if found else None

    @override
    def scores(
        self, scores: Float[Tensor, "*batch head query key"], coordinates: Coordinates, layer: int
    ) -> Float[Tensor, "*batch head query key"]:
        for part in self._each():
            scores = part.scores(scores, coordinates, layer)
        return scores

    @override
    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"] | None:
        """None where a part has a bias without lags."""
        found = []
        for part in self._each():
            lags = part.lags(coordinates, layer)
            if lags is not None:
                found.append(lags)
            elif part.bias(coordinates, layer) is not None:
                return None
        return sum(found[1:], start=found[0]) if found else None
