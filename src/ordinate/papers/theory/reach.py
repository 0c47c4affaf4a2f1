"""What heads with free slopes can express of a kernel in mean squared error, beside what training finds.

Over independent inputs of variance 1 the mean squared error of a kernel is the squared l2 distance. In exact arithmetic
and over all lags the best lin fit has a closed form: the heads a_k^s, a_k = e^(-p_k), span what is orthogonal to the
multiples of B(z) = prod_k (z - a_k) / (1 - a_k z), so that

    min |rho - sum_k c_k a_k^s|^2 = sum_j (sum_s rho(s) b_{s-j})^2,    b the Taylor coefficients of B.

It takes no coefficients, and float64 computes it for slopes whose coefficients no float64 holds.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.papers.theory.biases import Bias
from ordinate.papers.theory.fits import FLOAT64, Fit, check, fit, orthonormal
from ordinate.papers.theory.norms import L2, need_scipy_optimize

SPREADS = tuple(
    (low, high) for low in (0.001, 0.01, 0.1, 0.5) for high in (0.3, 1.0, 3.0, 10.0) if low < high
)
"""Smallest and largest slope of the geometric slopes from which descents start, times the least slope if it is more."""
LOG_SLOPES = (math.log(1e-6), math.log(100.0))
"""Between which logarithms slopes move."""
STARTS = 3
"""Descents, from the best of the spreads."""


def best_slopes(
    bias: Bias, heads: int, kernel: Float[ndarray, " lag"], *, start: int = 0, digits: float = FLOAT64
) -> Fit:
    """The least-squares fit of a kernel with heads of any slopes, as float64 can hold it.

    Descents on the logarithms of the slopes from three geometric sets; coefficients are solved for at every step. The
    mean squared error is `error` squared. Descents find local minima: the result is what can be expressed at least.

    >>> from ordinate.papers.theory.biases import LOG
    >>> kernel = np.arange(1.0, 100.0, dtype=float)
    >>> found = best_slopes(LOG, 1, np.concatenate([[0.0], kernel**-1.5]))
    >>> round(found.slopes[0], 6), found.error < 1e-9
    (1.5, True)
    """
    check(bias, [1.0 + k for k in range(heads)], kernel[None], start)
    lags = bias.lags(len(kernel), start)
    padded = np.concatenate([kernel[lags.start :], np.zeros(heads)])
    digits_used = min(digits, FLOAT64)

    def residual(logs: Float[ndarray, " head"]) -> Float[ndarray, " row"]:
        columns = np.concatenate(orthonormal(bias.weights_of(np.exp(logs), lags), digits_used))
        left: ndarray = padded - columns @ (columns.T @ padded)
        return left

    scale = math.log(max(bias.least_slope, 1.0))
    spreads = [scale + np.linspace(math.log(high), math.log(low), heads) for low, high in SPREADS]
    spreads.sort(key=lambda logs: float(np.linalg.norm(residual(logs))))
    tight = {"xtol": 1e-12, "ftol": 1e-12, "gtol": 1e-15, "max_nfev": 200}
    solved = [
        need_scipy_optimize().least_squares(residual, logs, bounds=LOG_SLOPES, **tight)
        for logs in spreads[:STARTS]
    ]
    best = min(solved, key=lambda found: float(found.cost))
    return fit(bias, np.sort(np.exp(best.x)).tolist(), kernel[None], start=start, digits=digits, norm=L2)


def exact_mse(slopes: Sequence[float], kernel: Float[ndarray, " lag"]) -> float:
    """The least mean squared error of lin heads of these slopes over all lags, in exact arithmetic.

    >>> round(exact_mse([math.log(2)], np.array([1.0])), 6)  # one head of weights 2^-s, lag 0: 1 - 3/4
    0.25
    """
    from scipy.signal import lfilter

    left = kernel[::-1]
    for a in np.exp(-np.asarray(slopes, dtype=np.float64)).tolist():
        left = lfilter([-a, 1.0], [1.0, -a], left)
    return float((left**2).sum())


def best_exact(heads: int, kernel: Float[ndarray, " lag"]) -> tuple[float, tuple[float, ...]]:
    """The least mean squared error over lin slopes first + step k in exact arithmetic, and the slopes.

    >>> error, slopes = best_exact(4, np.eye(100)[99])
    >>> 0.98 < error < 0.99, len(slopes)
    (True, 4)
    """
    count = np.arange(heads)

    def error(logs: Float[ndarray, "2"]) -> float:
        return exact_mse((np.exp(logs[0]) + np.exp(logs[1]) * count).tolist(), kernel)

    grid = [
        np.log([first, step]) for first in np.geomspace(1e-3, 2, 12) for step in np.geomspace(1e-5, 1, 12)
    ]
    minimize = need_scipy_optimize().minimize
    polished = [
        minimize(error, start, method="Nelder-Mead", options={"maxfev": 200})
        for start in sorted(grid, key=error)[:STARTS]
    ]
    best = min(polished, key=lambda found: float(found.fun))
    first, step = np.exp(best.x).tolist()
    return float(best.fun), tuple((first + step * count).tolist())
