"""Slopes that are searched for instead of those of the proofs, and what heads with any slopes can express.

The slopes first + step k of Appendix F have first = step = 0.01 (log: 1.01 and 0.01): heads that float64 can hardly
tell apart. Searching over the two numbers alone changes errors by orders of magnitude.

Over independent inputs of variance 1 the mean squared error of a kernel is the squared l2 distance. In exact arithmetic
and over all lags the best lin fit has a closed form: the heads a_k^s, a_k = e^(-p_k), span what is orthogonal to the
multiples of B(z) = prod_k (z - a_k) / (1 - a_k z), so that

    min |rho - sum_k c_k a_k^s|^2 = sum_j (sum_s rho(s) b_{s-j})^2,    b the Taylor coefficients of B.

It takes no coefficients, and float64 computes it for slopes whose coefficients no float64 holds.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import Bias
from ordinate.papers.theory.fits import FLOAT64, Fit, check, fit, orthonormal, quick_cost
from ordinate.papers.theory.norms import L1, L2, Norm, need_scipy_optimize

FIRSTS = (0.05, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
STEPS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Where the search starts from, times the least slope of the bias where it has one."""
TRIED = 4
"""Pairs, best in the l2 norm, which needs no linear program, that are tried in the norm asked for."""
POLISH = 50
"""Fits of the search by simplex that follows."""


def lag_kernels(lags: Sequence[int], length: int) -> Float[ndarray, "memory lag"]:
    """The kernel of each memory: 1 at its lag.

    >>> lag_kernels([2, 0], 4).tolist()
    [[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]
    """
    kernels: ndarray = np.eye(length)[list(lags)]
    return kernels


def optimise_slopes(
    bias: Bias,
    heads: int,
    kernels: Float[ndarray, "memory lag"],
    *,
    start: int = 0,
    digits: float = FLOAT64,
    norm: Norm = L1,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> Fit:
    """The best fit over slopes first + step k: a grid of both, then a simplex search from the best point.

    The cost counts error and rounding, so that the fit is one an arithmetic of so many digits can use. It is a search
    and no proof that no better slopes exist.

    >>> from ordinate.papers.theory.biases import LIN
    >>> found = optimise_slopes(LIN, 4, lag_kernels([2], 16))
    >>> found.error < 1e-3 < 0.9 < fit(LIN, LIN.paper_slopes(4), lag_kernels([2], 16)).error
    True
    """
    if digits <= FLOAT64:
        check_heads(bias, heads, kernels.shape[1])
    scale = max(bias.least_slope, 1.0)
    starts = [np.log([scale * first, scale * step]) for first in FIRSTS for step in STEPS]
    total = TRIED + POLISH
    tried = 0

    def slopes_at(logs: Float[ndarray, "2"]) -> Float[ndarray, " head"]:
        slopes: ndarray = np.exp(logs[0]) + np.exp(logs[1]) * np.arange(heads)
        return slopes

    def rough(logs: Float[ndarray, "2"]) -> float:
        return quick_cost(bias, slopes_at(logs), kernels, start=start, norm=L2)

    def cost(logs: Float[ndarray, "2"]) -> float:
        nonlocal tried
        tried += 1
        report(min(tried, total), total)
        slopes = slopes_at(logs)
        if digits <= FLOAT64:
            found = quick_cost(bias, slopes, kernels, start=start, digits=digits, norm=norm)
        else:
            exact = fit(bias, slopes.tolist(), kernels, start=start, digits=digits, norm=norm)
            found = exact.cost(digits)
        return math.log(max(found, 1e-300))

    best = min(sorted(starts, key=rough)[:TRIED], key=cost)
    corners = best + 0.3 * np.eye(3, 2, k=-1)
    polished = need_scipy_optimize().minimize(
        cost, best, method="Nelder-Mead", options={"maxfev": POLISH, "initial_simplex": corners}
    )
    first, step = (float(f"{math.exp(value):.6g}") for value in polished.x)
    return fit(bias, bias.progression(first, step, heads), kernels, start=start, digits=digits, norm=norm)


def check_heads(bias: Bias, heads: int, length: int) -> None:
    """Refuse more heads than float64 can hold coefficients for over so many lags."""
    apart = told_apart(bias, length)
    if heads > apart:
        raise OrdinateError(
            f"{heads} heads are more than float64 can hold coefficients for: over {length} lags it tells {apart} "
            f"{bias.name} heads apart, take at most {apart}"
        )


def told_apart(bias: Bias, length: int) -> int:
    """How many heads float64 tells apart over so many lags: the rank of 512 of them, slopes from 0.0001 to 60.

    Coefficients of more heads are not determined: some head is the sum of others, but for rounding.

    >>> from ordinate.papers.theory.biases import LIN, LOG
    >>> told_apart(LIN, 8), 20 < told_apart(LIN, 64) < 40, told_apart(LOG, 64) < told_apart(LIN, 64)
    (8, True, True)
    """
    weights = bias.weights_of(np.geomspace(1e-4, 60, 512), bias.lags(length))
    return int(np.linalg.matrix_rank(weights / weights.sum(0)))


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
