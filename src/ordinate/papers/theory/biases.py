"""The two relative biases of arXiv 2402.00522 as kernels over lags, in as many digits as are asked for.

A head of slope p adds p phi(s) to the score of the token s places back:

    lin    phi(s) = -s,      s >= 0    weights exp(-p s)
    log    phi(s) = -log s,  s >= 1    weights s^-p

Both are powers of one variable: with slopes p = first + step k, the sum over heads at lag s is y_s^(first / step)
times a polynomial in y_s, where y_s = exp(-step s) or s^-step.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from typing_extensions import override

from ordinate.errors import OrdinateError, nearest

if TYPE_CHECKING:
    from mpmath import mpf


def need_mpmath() -> Any:
    """Return mpmath, which the extra `theory` installs."""
    try:
        import mpmath
    except ImportError:
        raise OrdinateError("these sums need mpmath: write pip install 'ordinate[theory]'") from None
    return mpmath


@dataclass(frozen=True)
class Bias(ABC):
    """A relative bias with one slope a head."""

    name: str
    first_lag: int
    """The nearest token that a head can see."""
    paper_first: float
    """Slopes of Appendix F: paper_first + 0.01 k for head k = 0, 1, ..."""
    least_slope: float
    """A head's weights can be summed over all lags when its slope is above this."""
    decay_step: float
    """a of Lemma F.3 or F.6."""
    decay_damping: float
    """c / b of Lemma F.3 or F.6."""
    order_scale: float
    """Theorem 5.1 has an order n up to floor(order_scale b), less the least slope, for a kernel of decay b."""
    kernel: str
    """A head's weights as they are written."""

    @abstractmethod
    def distances(self, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """-phi of several lags in float64."""

    @abstractmethod
    def distance(self, lag: int) -> "mpf":
        """-phi(lag)."""

    @abstractmethod
    def lags_at(self, distances: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """The lags, whole or not, that have these distances."""

    def log_growth(self, lag: int) -> float:
        """The logarithm of what a memory at this lag costs in the theorems: 0.01 T, or 1.01 log T."""
        return self.paper_first * float(self.distances(np.array([float(lag)]))[0])

    @abstractmethod
    def tail(self, slope: Any, lag: int) -> "mpf":
        """The sum of a head's weights from this lag on, over all lags."""

    def growth(self, lag: int) -> float:
        """What a memory at this lag costs in the theorems: exp(0.01 T), or T^1.01; infinite above 1e308.

        >>> LIN.growth(100), LOG.growth(1)
        (2.718281828459045, 1.0)
        """
        return exp(self.log_growth(lag))

    def weight(self, slope: Any, lag: int) -> "mpf":
        """exp(slope phi(lag)), in the digits that mpmath works with.

        >>> LIN.weight(0, 7), LOG.weight(2, 4)
        (mpf('1.0'), mpf('0.0625'))
        """
        mp = need_mpmath()
        return mp.exp(-mp.mpf(slope) * self.distance(lag))

    def weights(self, slope: float, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """exp(slope phi(lag)) of several lags in float64.

        >>> LOG.weights(2.0, np.array([1.0, 4.0])).tolist()
        [1.0, 0.0625]
        """
        weights: ndarray = np.exp(-slope * self.distances(lags))
        return weights

    def weights_of(self, slopes: Float[ndarray, " head"], lags: range) -> Float[ndarray, "lag head"]:
        """The weights of several heads in float64.

        >>> LOG.weights_of(np.array([1.0, 2.0]), range(1, 3)).tolist()
        [[1.0, 1.0], [0.5, 0.25]]
        """
        distances = self.distances(np.array(lags, dtype=np.float64))
        weights: ndarray = np.exp(-distances[:, None] * slopes)
        return weights

    def lags(self, length: int, start: int = 0) -> range:
        """The lags that a head sees in a sequence of this length, from `start` on.

        >>> LIN.lags(3), LOG.lags(3), LIN.lags(3, start=2)
        (range(0, 3), range(1, 3), range(2, 3))
        """
        return range(max(self.first_lag, start), length)

    def paper_slopes(self, heads: int) -> tuple[float, ...]:
        """The slopes of Appendix F: 0.01 (k + 1) for lin, 1.01 + 0.01 k for log.

        >>> LIN.paper_slopes(3), LOG.paper_slopes(2)
        ((0.01, 0.02, 0.03), (1.01, 1.02))
        """
        return self.progression(self.paper_first, 0.01, heads)

    def progression(self, first: float, step: float, heads: int) -> tuple[float, ...]:
        """Slopes first + step k, rounded to 12 decimals so that they can be read."""
        return tuple(round(first + step * k, 12) for k in range(heads))

    def check_lags(self, lags: Sequence[int], length: int | None = None, *, repeated: bool = False) -> None:
        """Refuse lags that no head sees, that a sequence of this length does not have, or that repeat.

        Those of adaptive memories may repeat: they are the furthest that different index functions reach.
        """
        if not lags:
            raise OrdinateError("there are no lags: write at least one, such as --lags 2,5")
        if min(lags) < self.first_lag:
            raise OrdinateError(
                f"lag {min(lags)} is out of range: {self.name} heads see lags from {self.first_lag} on"
            )
        if not repeated and len(set(lags)) < len(lags):
            raise OrdinateError(f"lags {','.join(map(str, lags))} repeat one: write each lag once")
        if length is not None and max(lags) >= length:
            raise OrdinateError(
                f"lag {max(lags)} is out of range: a sequence of {length} tokens has lags up to {length - 1}"
            )

    def check_decay(self, decay: float, where: str) -> None:
        """Refuse a kernel of this decay b that cannot be summed over all lags, which `where` needs."""
        if decay <= self.least_slope:
            raise OrdinateError(
                f"a kernel {self.kernel} with b = {decay:g} is not summable, which {where} needs: "
                f"take b above {self.least_slope:g}"
            )


@dataclass(frozen=True)
class Lin(Bias):
    """phi(s) = -s: heads weigh lag s by exp(-p s)."""

    @override
    def distances(self, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        return lags

    @override
    def distance(self, lag: int) -> "mpf":
        return need_mpmath().mpf(lag)

    @override
    def lags_at(self, distances: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        return distances

    @override
    def tail(self, slope: Any, lag: int) -> "mpf":
        """exp(-p s) / (1 - exp(-p)).

        >>> float(LIN.tail(0.5, 0)) == 1 / (1 - math.exp(-0.5))
        True
        """
        mp = need_mpmath()
        return self.weight(slope, lag) / -mp.expm1(-mp.mpf(slope))


@dataclass(frozen=True)
class Log(Bias):
    """phi(s) = -log(s + shift): heads weigh lag s by (s + shift)^-p, and see lag 0 only where something is added."""

    shift: int = 0

    @override
    def distances(self, lags: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        logs: ndarray = np.log(lags + self.shift)
        return logs

    @override
    def distance(self, lag: int) -> "mpf":
        return need_mpmath().log(lag + self.shift)

    @override
    def lags_at(self, distances: Float[ndarray, " lag"]) -> Float[ndarray, " lag"]:
        """Their exponentials.

        >>> LOG.lags_at(LOG.distances(np.array([1.0, 3.0]))).round(12).tolist()
        [1.0, 3.0]
        """
        lags: ndarray = np.exp(distances) - self.shift
        return lags

    @override
    def tail(self, slope: Any, lag: int) -> "mpf":
        """The Hurwitz zeta function of p at the lag.

        >>> round(float(LOG.tail(2.0, 1)), 6)  # pi^2 / 6
        1.644934
        """
        mp = need_mpmath()
        return mp.zeta(mp.mpf(slope), lag + self.shift)


LIN = Lin(
    "lin",
    first_lag=0,
    paper_first=0.01,
    least_slope=0.0,
    decay_step=0.005,
    decay_damping=0.01,
    order_scale=99.0,
    kernel="exp(-b t)",
)
LOG = Log(
    "log",
    first_lag=1,
    paper_first=1.01,
    least_slope=1.0,
    decay_step=0.01,
    decay_damping=0.0001,
    order_scale=0.99,
    kernel="t^-b",
)
LOG_SHIFTED = replace(LOG, name="log shifted", first_lag=0, shift=1)
"""(1 + s)^-p: a convention under which log heads see lag 0."""
BIASES: dict[str, Bias] = {bias.name: bias for bias in (LIN, LOG)}


def find_bias(name: str) -> Bias:
    """Return the bias of this name.

    >>> find_bias("lin") is LIN
    True
    """
    if name not in BIASES:
        raise OrdinateError(f"there is no bias {name!r}: {nearest(name, BIASES)}")
    return BIASES[name]


def exp(value: float) -> float:
    """exp, infinite where float64 ends.

    >>> exp(0.0), exp(1e4)
    (1.0, inf)
    """
    return math.exp(value) if value < 709.0 else math.inf
