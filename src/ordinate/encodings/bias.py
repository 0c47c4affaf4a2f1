"""Biases: what is added to a score depends on the distance of its two tokens, never on what they say."""

from abc import abstractmethod
from bisect import bisect_left

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, Encoding
from ordinate.encodings.helpers import Cache, by_difference, by_distance, free, positive

TINY = 1e-6
"""Keeps 0 / 0 away in FIRE, should the threshold reach 0."""


class LagBias(Encoding):
    """A bias that depends on the distance alone, alike on both sides; causal attention reads `lags`."""

    @override
    @abstractmethod
    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]: ...

    @override
    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        return by_distance(self.lags(coordinates, layer))


def bucket(difference: Int[Tensor, "..."], buckets: int, furthest: int) -> Int[Tensor, "..."]:
    """The bucket of j - i: half of them for keys ahead, and of each half one a distance at first, then wider ones.

    With b = buckets / 2 and e = b / 2: distance below e is its own bucket; above, e + floor((b - e) log(distance / e) /
    log(furthest / e)), at most b - 1. Bounds are found in whole numbers, so that no rounding moves them.

    >>> bucket(torch.tensor([-300, -8, -1, 0, 1, 7, 8, 127]), buckets=32, furthest=128).tolist()
    [15, 8, 1, 0, 17, 23, 24, 31]
    """
    half = buckets // 2
    bounds = torch.tensor(_bounds(half, furthest)).to(difference.device)
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


class T5(
    Encoding,
    name="t5",
    summary="scores biased by buckets of distance, wider ones further away",
    extrapolation="defined: from `furthest` on all distances share a bucket; buckets never met keep first values",
    source="Raffel et al. 2020, arXiv 1910.10683",
):
    """score[i, j] += b_{bucket(j - i)}: bidirectional logarithmic buckets, scalars of each head shared by all layers.

    T5 leaves out the factor 1 / sqrt(d) of the scores; here it stays, and the bias is added after it.

    Example: `encoding = {kind = "t5", buckets = 32, furthest = 128}`.
    """

    buckets: int = Field(
        default=32, ge=4, le=4096, multiple_of=2, description="half for keys behind, half for keys ahead"
    )
    furthest: int = Field(default=128, ge=2, description="distance from which on there is one bucket")
    std: float = Field(default=0.02, ge=0, description="standard deviation of the first values")

    @override
    def check_settings(self) -> None:
        if self.furthest <= self.buckets // 4:
            raise ValueError(
                f"must have furthest > buckets / 4, got {self.furthest} and {self.buckets} buckets"
            )

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.table = nn.Parameter(self.std * torch.randn(spec.heads, self.buckets))
        self._buckets = Cache[Tensor]()

    @override
    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        return self.table[:, self._bucket(0, -len(coordinates))]

    @override
    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        tokens = len(coordinates)
        return by_difference(self.table[:, self._bucket(tokens - 1, -tokens)])

    def _bucket(self, first: int, end: int) -> Int[Tensor, " difference"]:
        """The buckets of j - i from the first value down, while i - j goes up."""
        device = self.table.device
        return self._buckets(
            (first, end, device),
            lambda: bucket(torch.arange(first, end, -1, device=device), self.buckets, self.furthest),
        )


def slopes(heads: int) -> list[float]:
    """2^(-8h / H), h = 1 .. H, where H is a power of two; else those of the power below, and then every other one
    of the power above.

    >>> slopes(4), slopes(3)
    ([0.25, 0.0625, 0.015625, 0.00390625], [0.0625, 0.00390625, 0.25])
    """
    below = 2 ** (heads.bit_length() - 1)
    above = [2.0 ** (-8 * h / (2 * below)) for h in range(1, 2 * below + 1)]
    return above[1::2] + above[::2][: heads - below]


class Alibi(
    LagBias,
    name="alibi",
    summary="scores fall with distance at a fixed slope of each head",
    extrapolation="defined: the slope goes on",
    source="Press et al. 2022, arXiv 2108.12409",
):
    """score[i, j] -= m_h |i - j| with fixed slopes m_h = 2^(-8h / H).

    The paper is causal, where |i - j| = i - j; encoders take the distance on both sides alike.

    Example: `encoding = "alibi"`.
    """

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.slopes: Tensor
        self.register_buffer("slopes", torch.tensor(slopes(spec.heads)), persistent=False)
        self._bias = Cache[Tensor](most=2)  # large: heads x tokens^2

    @override
    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        return -self.slopes[:, None] * torch.arange(len(coordinates), device=self.slopes.device)

    @override
    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        key = len(coordinates), self.slopes.device, self.slopes.dtype
        return self._bias(key, lambda: by_distance(self.lags(coordinates, layer)))


class Kerple(LagBias, source="Chi et al. 2022, arXiv 2205.09921", extrapolation="defined: the fall goes on"):
    """-r1 fall(|i - j|; r2), with r1 and r2 learned for each head and layer; two kinds of fall.

    Both kernels are conditionally positive definite for the parameters allowed, which are kept in range by smooth maps
    of free parameters: r > 0 by softplus, 0 < r < 2 by twice the sigmoid. (The authors clamp instead, where gradients
    can vanish.)
    """

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.scale = nn.Parameter(free(torch.rand(spec.layers, spec.heads).clamp(min=0.01)))
        self.shape = nn.Parameter(self.first_shape(torch.rand(spec.layers, spec.heads).clamp(0.01, 0.99)))

    @abstractmethod
    def first_shape(self, drawn: Float[Tensor, "layer head"]) -> Float[Tensor, "layer head"]:
        """The free parameter behind r2, from numbers drawn between 0 and 1."""

    @abstractmethod
    def fall(self, distance: Float[Tensor, " distance"], layer: int) -> Float[Tensor, "head distance"]:
        """How much a score falls with distance, up to the factor r1."""

    @override
    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        scale = self.scale[layer]
        distance = torch.arange(len(coordinates), device=scale.device, dtype=scale.dtype)
        return -positive(scale)[:, None] * self.fall(distance, layer)


class KerpleLog(
    Kerple, name="kerple-log", summary="scores fall with the logarithm of distance, at a learned rate"
):
    """score[i, j] -= r1 log(1 + r2 |i - j|) with r1, r2 > 0 learned for each head and layer, from U(0, 1) at first.

    Example: `encoding = "kerple-log"`.
    """

    @override
    def first_shape(self, drawn: Float[Tensor, "layer head"]) -> Float[Tensor, "layer head"]:
        return free(drawn)

    @override
    def fall(self, distance: Float[Tensor, " distance"], layer: int) -> Float[Tensor, "head distance"]:
        return torch.log1p(positive(self.shape[layer])[:, None] * distance)


class KerplePower(Kerple, name="kerple-power", summary="scores fall with a learned power of distance"):
    """score[i, j] -= r1 |i - j|^r2 with r1 > 0 and 0 < r2 < 2 learned for each head and layer.

    At first r1 is from U(0, 1) and r2 from U(0, 2). The paper allows r2 = 2 itself, which is only a limit here.

    Example: `encoding = "kerple-power"`.
    """

    @override
    def first_shape(self, drawn: Float[Tensor, "layer head"]) -> Float[Tensor, "layer head"]:
        return torch.logit(drawn)

    @override
    def fall(self, distance: Float[Tensor, " distance"], layer: int) -> Float[Tensor, "head distance"]:
        return distance ** (2 * torch.sigmoid(self.shape[layer]))[:, None]


class FireFunction(nn.Module):
    """f(psi(distance) / psi(max(place, L))), psi(x) = log(c x + 1); f is a small network with an output a head."""

    def __init__(self, heads: int, hidden: int, threshold: float) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(1, hidden), nn.Linear(hidden, heads)
        self.c = nn.Parameter(torch.tensor(0.1))
        self.first_threshold = threshold
        self.threshold = nn.Parameter(
            torch.tensor(1.0)
        )  # in units of the first, so that one step rate suits all

    def _psi(self, x: Float[Tensor, "query key"]) -> Float[Tensor, "query key"]:
        return torch.log1p(self.c.abs() * x)

    def forward(
        self, distance: Float[Tensor, "query key"], place: Float[Tensor, "query key"]
    ) -> Float[Tensor, "head query key"]:
        """A bias for every pair."""
        furthest = torch.maximum(place, self.threshold.abs() * self.first_threshold)
        ratio = self._psi(distance) / (self._psi(furthest) + TINY)
        output: Tensor = self.down(F.relu(self.up(ratio[..., None])))
        return output.movedim(-1, 0)


class Fire(
    Encoding,
    name="fire",
    summary="scores biased by a learned function of distance relative to the place",
    extrapolation="defined: distances are divided by the place, so that the ratio stays in the trained range",
    source="Li et al. 2024, arXiv 2310.04418",
):
    """score[i, j] += f(psi(|i - j|) / psi(max(i, j, L))), psi(x) = log(c x + 1), with f, c and L learned.

    The paper is causal: psi(i - j) / psi(max(i, L)) with i >= j. Here |i - j| takes the place of i - j, and the later
    of the two places that of i, so that pairs with j <= i have the published value, the ratio stays in [0, 1] on both
    sides, and tokens appended later change nothing. `shared = true` is the paper's FIRE-S.

    Example: `encoding = {kind = "fire", threshold = 64.0}`.
    """

    hidden: int = Field(default=32, ge=1, le=4096, description="width of the function's hidden layer")
    threshold: float = Field(
        default=512.0, gt=0, description="first L: places before it are not interpolated"
    )
    shared: bool = Field(default=False, description="one function for all layers")

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.functions = nn.ModuleList(
            FireFunction(spec.heads, self.hidden, self.threshold)
            for _ in range(1 if self.shared else spec.layers)
        )
        self._places = Cache[tuple[Tensor, Tensor]](most=4)  # large: tokens^2

    @override
    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        function = self.functions[layer if len(self.functions) > 1 else 0]
        like = next(function.parameters())
        tokens = len(coordinates)

        def find() -> tuple[Tensor, Tensor]:
            place = torch.arange(tokens, device=like.device, dtype=like.dtype)
            return (place[:, None] - place).abs(), torch.maximum(place[:, None], place)

        bias: Tensor = function(*self._places((tokens, like.device, like.dtype), find))
        return bias
