"""The best sum of heads for kernels, in an arithmetic of so many digits: what heads can express, and the wall.

Heads of nearby slopes are nearly the same function, and what they can express together needs coefficients of
opposite signs that cancel. Rounding a coefficient a_k moves the output by at most u |a_k| sum_s w_k(s), u = 2^-53 for
float64, so an arithmetic can use a fit only if

    |rho - sum_k a_k w_k| + u sum_k |a_k| sum_s w_k(s)

is small. `fit` minimises this cost, error and rounding together. Whatever u, the basis is made orthonormal in high
precision first: the best coefficients in it are harmless numbers, and only the way back to the a_k needs the digits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import Bias, need_mpmath
from ordinate.papers.theory.norms import L1, Norm

if TYPE_CHECKING:
    from mpmath import mpf

FLOAT64 = 53 * math.log10(2)
"""Digits of float64: 15.95."""
SPARE, SPARE_A_HEAD = 40.0, 4.0
"""More digits than coefficients take for the slopes of Appendix F, and more for every head."""
MOST_HEADS = 256
"""Heads that a fit takes."""
MOST_LAGS = 4096
"""The longest sequence that a fit takes."""


@dataclass(frozen=True)
class Fit:
    """Coefficients of heads for one or several kernels, and what they are worth."""

    bias: Bias
    length: int
    slopes: tuple[float, ...]
    coefficients: tuple[tuple["mpf", ...], ...]
    """A row for each kernel, a column for each head."""
    norm: Norm
    made_for: float
    """Digits of the arithmetic whose cost it has least."""
    errors: tuple[float, ...]
    """Of each kernel, in exact arithmetic, over the lags of the length."""
    roundings: tuple[float, ...]
    """sum_k |a_k| sum_s w_k(s) of each kernel: times u, what rounding the coefficients can do to the output."""
    largest: float
    """The largest coefficient."""

    @property
    def error(self) -> float:
        """The largest error of a kernel."""
        return max(self.errors)

    @property
    def digits(self) -> float:
        """Digits of an arithmetic whose rounding is as large as the error of the worst kernel; with fewer it is larger.

        0 for a fit without coefficients.
        """
        rounding = max(self.roundings)
        if rounding == 0:
            return 0.0
        return math.log10(rounding / self.error) if self.error else math.inf

    def held_by(self, digits: float = FLOAT64) -> bool:
        """Whether an arithmetic of so many digits can use the coefficients: they were made for it, or need no more."""
        return min(self.made_for, self.digits) <= digits

    def cost(self, digits: float = FLOAT64) -> float:
        """Error and rounding of the worst kernel."""
        pairs = zip(self.errors, self.roundings, strict=True)
        unit: float = 10.0**-digits
        return max(error + unit * rounding for error, rounding in pairs)

    def endless(self) -> tuple[float, ...]:
        """The l1 norm of each sum over the lags from the length on, which a sequence without a beginning adds.

        Lags are taken together in 16 ranges, each as long as all before it, the last one without end: exact where a
        range has no change of sign, and a sum of H heads has at most H - 1 of them.
        """
        mp = need_mpmath()
        size = math.log10(max(self.roundings) + 1)
        with mp.workdps(_working_digits(size)):
            edges = [self.length << doubled for doubled in range(16)]
            tails = [[self.bias.tail(p, edge) for p in self.slopes] for edge in edges]
            found = []
            for row in self.coefficients:
                sums = [mp.fdot(row, tail) for tail in tails]
                ranges = [near - far for near, far in zip(sums, [*sums[1:], mp.mpf(0)], strict=True)]
                found.append(float(mp.fsum(map(abs, ranges))))
        return tuple(found)


def fit(
    bias: Bias,
    slopes: Sequence[float],
    kernels: Float[ndarray, "memory lag"],
    *,
    start: int = 0,
    digits: float = FLOAT64,
    norm: Norm = L1,
) -> Fit:
    """The coefficients of least cost for heads of these slopes, all kernels with the same heads.

    Column s of the kernels is lag s, also for log, which cannot express lag 0: it has to be 0 there. Lags before
    `start` do not count: with start = 1, what heads do at lag 0 is left to the residual stream, which holds x_t. More
    digits than float64 has give what the heads can express in an arithmetic of so many digits.

    >>> from ordinate.papers.theory.biases import LIN
    >>> lag_2 = np.eye(16)[[2]]
    >>> round(fit(LIN, [2.0, 3.0, 4.0, 5.0], lag_2).error, 3)
    0.014
    """
    check(bias, slopes, kernels, start)
    lags = bias.lags(kernels.shape[1], start)
    mp = need_mpmath()
    with mp.workdps(_working_digits(digits)):
        basis = _Basis(bias, [mp.mpf(p) for p in slopes], lags, mp.mpf(10) ** -digits)
        rows, errors, roundings = [], [], []
        for kernel in kernels[:, lags.start :]:
            row = basis.coefficients(norm.solve(basis.orthonormal, basis.penalty, kernel))
            values = np.array([float(mp.fdot(row, column)) for column in basis.by_lag])
            rows.append(tuple(row))
            errors.append(norm.size(kernel - values))
            roundings.append(float(mp.fdot(map(abs, row), basis.sums)))
        largest = float(max(abs(value) for row in rows for value in row))
    return Fit(
        bias=bias,
        length=kernels.shape[1],
        slopes=tuple(slopes),
        coefficients=tuple(rows),
        norm=norm,
        made_for=digits,
        errors=tuple(errors),
        roundings=tuple(roundings),
        largest=largest,
    )


class _Basis:
    """Heads and their rounding, made orthonormal: columns of [w_k(s); u sum_s w_k(s) on the diagonal]."""

    def __init__(self, bias: Bias, slopes: Sequence["mpf"], lags: range, unit: "mpf") -> None:
        mp = need_mpmath()
        distances = [bias.distance(lag) for lag in lags]
        heads = [[mp.exp(-slope * distance) for distance in distances] for slope in slopes]
        self.by_lag = list(zip(*heads, strict=True))
        self.sums = [mp.fsum(head) for head in heads]
        count = len(slopes)
        # The Gram matrix is L L^T; L^-1 makes the columns orthonormal.
        lower: list[list[mpf]] = []
        for i in range(count):
            lower.append([])
            for j in range(i + 1):
                own = (unit * self.sums[i]) ** 2 if i == j else 0
                rest = mp.fdot(heads[i], heads[j]) + own - mp.fdot(lower[i], lower[j][: len(lower[i])])
                lower[i].append(mp.sqrt(rest) if i == j else rest / lower[j][j])
        inverse: list[list[mpf]] = []
        for i in range(count):
            inverse.append([])
            for j in range(i + 1):
                known = mp.fdot(lower[i][j:i], [inverse[k][j] for k in range(j, i)])
                inverse[i].append((int(i == j) - known) / lower[i][i])
        self._inverse = inverse
        self.orthonormal = np.array(
            [[float(mp.fdot(row, lag[: len(row)])) for row in inverse] for lag in self.by_lag]
        )
        self.penalty = np.zeros((count, count))
        for i, row in enumerate(inverse):
            self.penalty[: i + 1, i] = [float(unit * v * w) for v, w in zip(row, self.sums, strict=False)]

    def coefficients(self, found: Float[ndarray, " term"]) -> list["mpf"]:
        """From the orthonormal basis back to the heads."""
        mp = need_mpmath()
        count = len(found)
        exact = [mp.mpf(float(value)) for value in found]
        return [
            mp.fdot(exact[head:], [self._inverse[i][head] for i in range(head, count)])
            for head in range(count)
        ]


def paper_fit(bias: Bias, heads: int, kernels: Float[ndarray, "memory lag"]) -> Fit:
    """The best coefficients for the slopes of Appendix F, in as many digits as they take.

    >>> from ordinate.papers.theory.biases import LIN
    >>> paper_fit(LIN, 16, np.eye(20)[[2]]).held_by(FLOAT64)
    False
    """
    return fit(bias, bias.paper_slopes(heads), kernels, digits=SPARE + heads * SPARE_A_HEAD)


def quick_cost(
    bias: Bias,
    slopes: Float[ndarray, " head"],
    kernels: Float[ndarray, "memory lag"],
    *,
    start: int = 0,
    digits: float = FLOAT64,
    norm: Norm = L1,
) -> float:
    """The cost of the best fit, in float64 alone: near enough to compare slopes, for at most 15.95 digits.

    The orthonormal basis is that of heads which are off by the rounding that the cost counts anyway.

    >>> from ordinate.papers.theory.biases import LIN
    >>> slopes, kernel = np.arange(2.0, 6.0), np.eye(16)[[2]]
    >>> exact = fit(LIN, slopes.tolist(), kernel).cost()
    >>> abs(quick_cost(LIN, slopes, kernel) / exact - 1) < 1e-6
    True
    """
    lags = bias.lags(kernels.shape[1], start)
    basis, penalty = orthonormal(bias.weights_of(slopes, lags), digits)
    worst = 0.0
    for kernel in kernels[:, lags.start :]:
        found = norm.solve(basis, penalty, kernel)
        worst = max(worst, norm.size(kernel - basis @ found) + float(np.abs(penalty @ found).sum()))
    return worst


def orthonormal(
    heads: Float[ndarray, "lag head"], digits: float
) -> tuple[Float[ndarray, "lag head"], Float[ndarray, "head head"]]:
    """Heads, and under them u sum_s w_k(s) on the diagonal, with their columns made orthonormal in float64."""
    stacked = np.concatenate([heads / heads.sum(0), 10.0**-digits * np.eye(heads.shape[1])])
    columns = np.linalg.qr(stacked).Q
    return columns[: len(heads)], columns[len(heads) :]


def check(bias: Bias, slopes: Sequence[float], kernels: Float[ndarray, "memory lag"], start: int) -> None:
    """Refuse what cannot be fitted."""
    lags = bias.lags(kernels.shape[1], start)
    if not 1 <= len(slopes) <= MOST_HEADS:
        raise OrdinateError(f"{len(slopes)} heads are out of range: a fit takes 1 to {MOST_HEADS}")
    if len(set(slopes)) < len(slopes) or min(slopes) <= 0:
        raise OrdinateError("slopes have to be above 0 and different: two heads of one slope are one head")
    if not 1 <= len(lags) <= MOST_LAGS:
        raise OrdinateError(f"{len(lags)} lags are out of range: a fit takes 1 to {MOST_LAGS}")
    if not np.isfinite(kernels[:, lags.start :]).all():
        raise OrdinateError("the kernel is not finite at every lag: leave lag 0 out, or give other numbers")
    if kernels[:, start : lags.start].any():
        raise OrdinateError(
            f"lag {start} of the kernel is out of range: {bias.name} heads see lags from {bias.first_lag} on"
        )


def _working_digits(digits: float) -> int:
    """Digits for a Gram matrix, which squares what is small."""
    return math.ceil(2 * digits) + 30
