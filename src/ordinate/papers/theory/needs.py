"""What a lag takes: heads and digits that are enough to fetch it, in closed form.

The sum of heads of slopes first + step k that is 1 at lag T and 0 at the R - 1 other nearest lags is

    (y / y_T)^(first / step) prod_r (y - y_r) / (y_T - y_r),    y_s = e^(-step s) or s^-step,

R heads. Its coefficients alternate in sign, so that their absolute values add up to the same product with pluses at
y = 1; its error is what it leaves at the lags beyond. Both come as logarithms, so that float64 says what float64
cannot hold.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import Bias

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
