"""Slopes that are searched for instead of those of the proofs.

The slopes first + step k of Appendix F have first = step = 0.01 (log: 1.01 and 0.01): heads that float64 can hardly
tell apart. Searching over the two numbers alone changes errors by orders of magnitude.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import Bias
from ordinate.papers.theory.fits import FLOAT64, Fit, fit, quick_cost
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
