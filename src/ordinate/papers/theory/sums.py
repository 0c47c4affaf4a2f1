"""The constructions of Appendix F of arXiv 2402.00522: kernels as sums of exponentials or of powers.

With x = e^(-a t) (lin) or t^-a (log), a kernel is written as a damping times a function of x on [0, 1], and the
function is replaced by a polynomial of degree m - 1:

    lin    rho(t) = e^(-c t) Psi(e^(-a t))      slopes c + a k
    log    rho(t) = t^-(1+c) Psi(t^-a)          slopes 1 + c + a k          k = 0 .. m - 1

The indicator of lag T (Lemmas F.1 and F.4, a = c = 0.01) takes for Psi a smooth bump around x_T that ends before x of
the neighbouring lags. A kernel of decay b (Lemmas F.3 and F.6) is Psi(x) = x^(gap / a) with gap the decay that the
damping leaves; a = 0.005, c = 0.01 b for e^(-b t), and a = 0.01, c = 0.0001 b for t^-b. Where the proof takes
the polynomial of Jackson's theorem, whose constant it does not name, this takes the Chebyshev series: it is within a
factor of order log m of the best polynomial.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import Bias, need_mpmath

if TYPE_CHECKING:
    from mpmath import mpf

SINGLE_LAGS = 20_000
"""Lags that are summed one by one in l1 norms; beyond, the sum is an integral over x."""
MOST_TERMS = 1024
"""Terms of the longest sum."""


@dataclass(frozen=True)
class Target:
    """A kernel as damping and Psi: what a construction of Appendix F approximates."""

    bias: Bias
    step: float
    """a"""
    damping: float
    """c"""
    psi: Callable[[Float[ndarray, " point"]], Float[ndarray, " point"]]
    """The function on [0, 1]."""
    support: tuple[float, float]
    """Where it is not zero."""

    @property
    def first_slope(self) -> float:
        """The slope of the term k = 0."""
        return self.bias.least_slope + self.damping

    def variable(self, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """x at these lags."""
        return self.bias.weights(self.step, lags)

    def kernel(self, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """rho at these lags."""
        values: ndarray = self.bias.weights(self.first_slope, lags) * self.psi(self.variable(lags))
        return values


def indicator(lag: int, bias: Bias) -> Target:
    """1 at a lag and 0 at all others, as in Lemmas F.1 and F.4.

    >>> from ordinate.papers.theory.biases import LIN
    >>> indicator(2, LIN).kernel(np.arange(5.0)).round(12).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """
    bias.check_lags([lag])
    step = damping = 0.01
    near = np.array([lag, lag + 1.0])
    x, beyond = bias.weights(step, near).tolist()
    radius = x - beyond  # the lag before is farther: x falls ever more slowly
    height = 1 / float(bias.weights(bias.least_slope + damping, near)[0])

    def psi(points: Float[ndarray, " point"]) -> Float[ndarray, " point"]:
        inside = np.maximum(1 - ((points - x) / radius) ** 2, 0)
        with np.errstate(divide="ignore"):
            values: ndarray = height * np.exp(1 - 1 / inside)
        return values

    return Target(bias, step, damping, psi, (x - radius, min(x + radius, 1.0)))


def decaying(decay: float, bias: Bias) -> Target:
    """The kernel e^(-b t) for lin, t^-b for log, as in Lemmas F.3 and F.6; refused when it is not summable.

    One head of slope b is the same kernel: this shows what the lemma's own slopes cost.

    >>> from ordinate.papers.theory.biases import LOG
    >>> decaying(3.0, LOG).kernel(np.array([1.0, 2.0])).round(12).tolist()
    [1.0, 0.125]
    """
    bias.check_decay(decay, "Appendix F")
    step, damping = bias.decay_step, bias.decay_damping * decay
    gap = decay - bias.least_slope - damping
    if gap <= 0:
        raise OrdinateError(
            f"decay {decay:g} leaves nothing beside the damping {bias.least_slope + damping:g} of Lemma F.6: "
            f"take a decay above {bias.least_slope + 2 * damping:g}"
        )
    return Target(bias, step, damping, lambda points: points ** (gap / step), (0.0, 1.0))


@dataclass(frozen=True)
class Series:
    """A construction of Appendix F with m terms."""

    target: Target
    chebyshev: Float[ndarray, " term"]
    """Coefficients in the Chebyshev polynomials of [0, 1]."""

    @property
    def terms(self) -> int:
        """m, the heads of the construction."""
        return len(self.chebyshev)

    @property
    def slopes(self) -> tuple[float, ...]:
        """The slopes of the terms."""
        return self.target.bias.progression(self.target.first_slope, self.target.step, self.terms)

    def coefficients(self) -> list["mpf"]:
        """The coefficient of each term, exact for these Chebyshev coefficients in the digits of `digits`."""
        mp = need_mpmath()
        with mp.workdps(self.digits):
            found = [mp.mpf(0)] * self.terms
            now, after = [1], [-1, 2]
            for weight in map(mp.mpf, map(float, self.chebyshev)):
                for power, value in enumerate(now):
                    found[power] += weight * value
                now, after = after, _next_chebyshev(now, after)
        return found

    @property
    def digits(self) -> int:
        """Digits that carry the sum to 1e-20: Chebyshev polynomials of [0, 1] have coefficients up to 5.83^m."""
        return 40 + math.ceil(self.terms * math.log10(3 + 2 * math.sqrt(2)))

    def kernel(self, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """The sum at these lags, through its Chebyshev form, which does not cancel."""
        target = self.target
        values: ndarray = target.bias.weights(target.first_slope, lags) * self._polynomial(
            target.variable(lags)
        )
        return values

    def error(self) -> float:
        """The l1 norm of kernel minus sum over all lags: the sup norm of the head outputs over inputs in [-1, 1].

        Lags up to 20 000 one by one; beyond, sum_t e^(-c t) |d(x_t)| = 1/c integral |d| du with u = x^(c / a), and the
        same for log.
        """
        target = self.target
        lags = np.arange(target.bias.first_lag, SINGLE_LAGS, dtype=np.float64)
        near = float(np.abs(target.kernel(lags) - self.kernel(lags)).sum())
        last = float(target.variable(np.array([SINGLE_LAGS - 0.5]))[0])
        edge: float = last ** (target.damping / target.step)
        grid = (np.arange(SINGLE_LAGS) + 0.5) / SINGLE_LAGS * edge
        points = grid ** (target.step / target.damping)
        difference = np.abs(target.psi(points) - self._polynomial(points))
        return near + float(difference.mean()) * edge / target.damping

    def _polynomial(self, points: Float[ndarray, " point"]) -> Float[ndarray, " point"]:
        values: ndarray = np.polynomial.chebyshev.chebval(2 * points - 1, self.chebyshev)
        return values


def series(target: Target, terms: int) -> Series:
    """The Chebyshev series of Psi, cut after `terms` terms.

    >>> from ordinate.papers.theory.biases import LIN
    >>> [round(series(decaying(1.0, LIN), terms).error(), 3) for terms in (8, 32)]
    [5.192, 0.036]
    """
    if not 1 <= terms <= MOST_TERMS:
        raise OrdinateError(f"{terms} terms are out of range: a sum has 1 to {MOST_TERMS}")
    low, high = target.support
    nodes = max(4 * terms, math.ceil(256 / (high - low)))
    angles = (np.arange(nodes) + 0.5) * np.pi / nodes
    points = (np.cos(angles) + 1) / 2
    inside = (points >= low) & (points <= high)
    values = target.psi(points[inside])
    cosines = np.cos(np.arange(terms)[:, None] * angles[inside])
    chebyshev = 2 / nodes * (cosines @ values)
    chebyshev[0] /= 2
    return Series(target, chebyshev)


@dataclass(frozen=True)
class Measured:
    """A construction of one size: what it reaches and what it takes."""

    terms: int
    error: float
    """In l1 over all lags; the empty sum has the l1 norm of the kernel."""
    largest: float
    """log10 of the largest coefficient."""
    order: float | None
    """-d log error / d log m from the size before: the n of the bound C(n) / m^n that this size behaves like."""


def measure(target: Target, sizes: list[int]) -> list[Measured]:
    """Error, coefficient size and order of constructions of several sizes, in rising order.

    >>> from ordinate.papers.theory.biases import LIN
    >>> [row.terms for row in measure(indicator(2, LIN), [4, 8])]
    [4, 8]
    """
    mp = need_mpmath()
    rows: list[Measured] = []
    for terms in sizes:
        built = series(target, terms)
        error = built.error()
        largest = max(map(abs, built.coefficients()))
        order = None
        if rows:
            order = -math.log(error / rows[-1].error) / math.log(terms / rows[-1].terms)
        rows.append(Measured(terms, error, float(mp.log10(largest)) if largest else -math.inf, order))
    return rows


def _next_chebyshev(before: list[int], now: list[int]) -> list[int]:
    """(4 x - 2) now - before: the recurrence of the Chebyshev polynomials of [0, 1], in whole numbers.

    >>> _next_chebyshev([1], [-1, 2])
    [1, -8, 8]
    """
    before = before + [0] * (len(now) + 1 - len(before))
    return [4 * up - 2 * same - old for up, same, old in zip([0, *now], [*now, 0], before, strict=True)]
