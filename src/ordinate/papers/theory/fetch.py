"""What it takes to fetch a lag: one that is the same in every sample, and one that a token decides.

The sum of heads of slopes first + step k that is 1 at lag T and 0 at the R - 1 other nearest lags is

    (y / y_T)^(first / step) prod_r (y - y_r) / (y_T - y_r),    y_s = e^(-step s) or s^-step,

R heads. Its coefficients alternate in sign, so that their absolute values add up to the same product with pluses at
y = 1; its error is what it leaves at the lags beyond. Both come as logarithms, so that float64 says what float64
cannot hold.

At an index, whatever the index is (Lemmas F.2 and F.5 of arXiv 2402.00522): a head of slope p whose scores have p
distance(g) added weighs lag s by exp(-p (distance(s) - distance(g))): by exp(-p (s - g)) or (s / g)^-p. One sum of
such heads has to be 1 at s = g and 0 at all other lags for every g. With T the furthest g,

    sum_h v_h exp(-p_h (distance(s) - distance(g))) = sum_h a_h exp(-p_h u),    v_h = a_h exp(-p_h distance(T)),
    u = distance(s) - distance(g) + distance(T),

so that the a_h fit the indicator of u = distance(T) over all places u at which a token can be seen: the lags 0, 1, ..
again for lin, the logarithms of s T / g for log. The l1 norm over the places is an error that no index exceeds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import Bias, Log, need_mpmath
from ordinate.papers.theory.fits import FLOAT64, Fit
from ordinate.papers.theory.sums import indicator, series

if TYPE_CHECKING:
    from mpmath import mpf


STRETCHES = (1.0, 1.25, 1.5, 2.0, 3.0)
"""Lags that are made zero, as multiples of the lag that is fetched."""
STEPS = np.geomspace(0.01, 8, 40)
FIRSTS = np.array([1.0, 4.0, 16.0])
"""First slopes that are tried, in steps above the least slope."""


@dataclass(frozen=True)
class Needs:
    """Heads and digits that fetch a lag to within an error."""

    lag: int
    error: float
    heads: int
    digits: float


def needs(bias: Bias, lag: int, error: float) -> Needs:
    """Heads and digits that are enough for a lag: the fewest digits of the sums that were tried.

    >>> from ordinate.papers.theory.biases import LIN
    >>> needs(LIN, 5, 0.01)
    Needs(lag=5, error=0.01, heads=10, digits=12.67)
    """
    bias.check_lags([lag])
    if not 0 < error < 1:
        raise OrdinateError(f"error {error:g} is out of range: an error of 1 is that of no model, take less")
    best: Needs | None = None
    for stretch in STRETCHES:
        heads = math.ceil(stretch * (lag - bias.first_lag + 1)) + 2
        for step in STEPS.tolist():
            firsts = bias.least_slope + step * FIRSTS
            sizes, errors = vanishing_sums(bias, lag, heads, step, firsts)
            digits = (sizes - math.log(error))[errors <= error] / math.log(10)
            if digits.size and (best is None or digits.min() < best.digits):
                best = Needs(lag, error, heads, round(float(digits.min()), 2))
    if best is None:
        raise OrdinateError(f"no sum that was tried fetches lag {lag} to within {error:g}: take a nearer lag")
    return best


def vanishing_sums(
    bias: Bias, lag: int, heads: int, step: float, firsts: Float[ndarray, " first"]
) -> tuple[Float[ndarray, " first"], Float[ndarray, " first"]]:
    """log(sum_k |a_k| sum_s w_k(s)), bounded from above, and the l1 error, for sums of several first slopes.

    Lags up to 200 beyond the zeros one by one, then ranges up to 10^9 by their nearest lag.
    """
    seen = np.arange(bias.first_lag, bias.first_lag + heads, dtype=np.float64)
    beyond = seen[-1] + np.concatenate([np.arange(1.0, 200.0), np.geomspace(200, 1e9, 2000)])
    widths = np.diff(beyond, append=beyond[-1])
    own = np.array([float(lag)])
    others = bias.weights(step, seen[seen != lag])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        apart = np.log(np.abs(bias.weights(step, own) - others)).sum()
        if apart == -math.inf:  # lags too far away for y to be above 0 in float64
            return np.full_like(firsts, math.inf), np.full_like(firsts, math.inf)
        heights = firsts * bias.distances(own) - apart
        falls = np.log(np.abs(bias.weights(step, beyond)[:, None] - others)).sum(1)[:, None]
        left = np.exp(falls + heights - firsts * bias.distances(beyond)[:, None])
        errors: ndarray = (left * widths[:, None]).sum(0)
    totals = [math.log(bias.tail(first, bias.first_lag)) for first in firsts.tolist()]
    return np.log1p(others).sum() + heights + np.array(totals), errors


FURTHEST_COUNTED = 256
"""The furthest lag for which what it takes is counted."""
LARGEST_EXPONENT = 700.0
"""exp of more is no number of float64."""


@dataclass(frozen=True)
class Indexed(Bias):
    """A bias as it is seen from several indices: its "lag" i is the i-th of the places, the nearest first."""

    base: Bias
    places: tuple[tuple[int, int], ...]
    """A lag and an index that it is seen from, for every place."""
    furthest: int
    """T."""

    @property
    def own(self) -> int:
        """The place that is fetched."""
        return next(i for i, (lag, index) in enumerate(self.places) if lag == index)

    @property
    def indicator(self) -> Float[ndarray, "1 lag"]:
        """1 at the place that is fetched: the kernel that heads are to have."""
        kernel: ndarray = np.eye(len(self.places))[[self.own]]
        return kernel

    @override
    def distances(self, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        seen = np.array(self.places, dtype=np.float64)[lags.astype(int)]
        far = self.base.distances(np.array([float(self.furthest)]))
        distances: ndarray = self.base.distances(seen[:, 0]) - self.base.distances(seen[:, 1]) + far
        return distances

    @override
    def distance(self, lag: int) -> "mpf":
        seen, index = self.places[lag]
        return self.base.distance(seen) - self.base.distance(index) + self.base.distance(self.furthest)

    @override
    def lags_at(self, distances: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """The lag from T's token that is as far away."""
        return self.base.lags_at(distances)

    @override
    def log_growth(self, lag: int) -> float:
        return self.base.log_growth(self.furthest)

    @override
    def tail(self, slope: Any, lag: int) -> "mpf":
        """Places are those of one length, and none are beyond."""
        raise OrdinateError("places that are seen from an index end with the sequence: take a longer one")

    def values(self, found: Fit) -> Float[ndarray, " head"]:
        """v_h = a_h exp(-p_h distance(T)) in float64."""
        exponent = max(found.slopes) * float(self.base.distance(self.furthest))
        if exponent > LARGEST_EXPONENT:
            raise OrdinateError(
                f"float64 cannot hold exp({exponent:.3g}), the weight of a head of slope {max(found.slopes):g} at "
                f"lag {self.furthest}: take slopes or lags whose product is below {LARGEST_EXPONENT:g}"
            )
        mp = need_mpmath()
        with mp.workdps(40):
            (row,) = found.coefficients
            far = [self.base.weight(slope, self.furthest) for slope in found.slopes]
            return np.array([float(a * weight) for a, weight in zip(row, far, strict=True)])


def indexed(bias: Bias, lags: Sequence[int], length: int) -> Indexed:
    """All places that the tokens of a sequence are seen at from these indices.

    >>> from ordinate.papers.theory.biases import LIN, LOG
    >>> indexed(LIN, [1, 2], 4).distances(np.arange(5.0)).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    >>> np.exp(indexed(LOG, [1, 2], 4).distances(np.arange(5.0))).round(6).tolist()
    [1.0, 2.0, 3.0, 4.0, 6.0]
    """
    bias.check_lags(lags, length, repeated=True)
    pairs = [(lag, index) for index in sorted(set(lags)) for lag in bias.lags(length)]
    seen = np.array(pairs, dtype=np.float64)
    gaps = bias.distances(seen[:, 0]) - bias.distances(seen[:, 1])
    _, first = np.unique(gaps.round(9), return_index=True)
    known = {field.name: getattr(bias, field.name) for field in fields(Bias)} | {"first_lag": 0}
    return Indexed(**known, base=bias, places=tuple(pairs[i] for i in first), furthest=max(lags))


def proof_error(seen: Indexed, heads: int) -> float:
    """The error of the proof's own coefficients: the series of the indicator of T, at these places.

    The bump of the indicator ends before T - 1 and T + 1, and s T / g is at least T / g >= 1 away from T where s is not
    g, so that it is an indicator of the place as well.
    """
    lags = seen.lags_at(seen.distances(np.arange(len(seen.places), dtype=np.float64)))
    values = series(indicator(seen.furthest, seen.base), heads).kernel(lags)
    return float(np.abs(values - seen.indicator[0]).sum())


def enough(seen: Indexed, error: float) -> str:
    """Heads and digits that are enough for an error, in words.

    For log, places s / g are lags of a sequence in which the indices have a common multiple.

    >>> from ordinate.papers.theory.biases import LIN
    >>> enough(indexed(LIN, [1, 5], 8), 0.01)
    '10 heads and 12.67 digits are enough, float64 has 15.95'
    """
    indices = {index for _, index in seen.places}
    lag = math.lcm(*indices) if isinstance(seen.base, Log) else seen.furthest
    if lag > FURTHEST_COUNTED:
        return "take more heads, or nearer lags"
    need = needs(seen.base, lag, min(error, 0.9))
    return f"{need.heads} heads and {need.digits:.2f} digits are enough, float64 has {FLOAT64:.2f}"
