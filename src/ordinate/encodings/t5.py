"""The bias of T5 (Raffel et al. 2020, arXiv 1910.10683)."""

from bisect import bisect_left
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, Terms
from ordinate.encodings.toeplitz import by_difference


def bucket(difference: Int[Tensor, "..."], buckets: int, furthest: int) -> Int[Tensor, "..."]:
    """The bucket of j - i: half of them for keys ahead, and of each half one a distance at first, then wider ones.

    With b = buckets / 2 and e = b / 2: distance below e is its own bucket; above, e + floor((b - e) log(distance / e) /
    log(furthest / e)), at most b - 1. Bounds are found in whole numbers, so that no rounding moves them.

    >>> bucket(torch.tensor([-300, -8, -1, 0, 1, 7, 8, 127]), buckets=32, furthest=128).tolist()
    [15, 8, 1, 0, 17, 23, 24, 31]
    """
    half = buckets // 2
    bounds = torch.tensor(_bounds(half, furthest), device=difference.device)
    return torch.bucketize(difference.abs(), bounds, right=True) + half * (difference > 0)


def _bounds(half: int, furthest: int) -> list[int]:
    """The smallest distance of every bucket but the first."""
    exact = half // 2
    wide = half - exact
    found = list(range(1, exact + 1))
    for step in range(1, wide):
        # the first distance with (distance / exact)^wide >= (furthest / exact)^step, without fractions
        enough = furthest**step * exact ** (wide - step)
        found.append(bisect_left(range(furthest), enough, key=lambda distance: distance**wide))
    return found


class T5Bias(Encoding):
    """A number for every head and bucket, the same in all layers."""

    def __init__(self, heads: int, buckets: int, furthest: int, std: float) -> None:
        super().__init__()
        self.buckets, self.furthest = buckets, furthest
        self.table = nn.Parameter(std * torch.randn(heads, buckets))
        self._buckets = Cache[Tensor]()

    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        """table[bucket(-lag)]."""
        behind = -torch.arange(len(coordinates), device=self.table.device)
        return self.table[:, bucket(behind, self.buckets, self.furthest)]

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        """b[i, j] = table[bucket(j - i)]."""
        tokens, device = len(coordinates), self.table.device

        def find() -> Tensor:
            ahead = torch.arange(tokens - 1, -tokens, -1, device=device)  # j - i while i - j goes up
            return bucket(ahead, self.buckets, self.furthest)

        return by_difference(self.table[:, self._buckets((tokens, device), find)])


class T5(EncodingSettings):
    """score[i, j] += b_{bucket(j - i)}: bidirectional logarithmic buckets, scalars of each head shared by all layers.

    T5 leaves out the factor 1 / sqrt(d) of the scores; here it stays, and the bias is added after it.

    Example: `encoding = {kind = "t5", buckets = 32, furthest = 128}`.
    """

    name: ClassVar[str] = "t5"
    summary: ClassVar[str] = "scores biased by buckets of distance, wider ones further away"
    extrapolation: ClassVar[str] = (
        "defined: from `furthest` on all distances share a bucket; buckets never met keep first values"
    )
    source: ClassVar[str] = "Raffel et al. 2020, arXiv 1910.10683"

    buckets: int = Field(
        32, ge=4, le=4096, multiple_of=2, description="half for keys behind, half for keys ahead"
    )
    furthest: int = Field(128, ge=2, description="distance from which on there is one bucket")
    std: float = Field(0.02, ge=0, description="standard deviation of the first values")

    @model_validator(mode="after")
    def _has_room(self) -> "T5":
        if self.furthest <= self.buckets // 4:
            raise ValueError(
                f"must have furthest > buckets / 4, got {self.furthest} and {self.buckets} buckets"
            )
        return self

    @classmethod
    def for_contest(cls, terms: Terms) -> "T5":
        """A bucket for all distances beyond training. A quarter of the buckets are single distances, never all."""
        return cls(buckets=max(4, min(32, 4 * (terms.distance - 1))), furthest=max(2, terms.distance))

    def build(self, spec: BuildSpec) -> T5Bias:
        """A row for every head."""
        return T5Bias(spec.heads, self.buckets, self.furthest, self.std)
