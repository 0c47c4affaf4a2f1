"""How an influence falls with the lag: like an exponential, like a power, or not."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

FEWEST = 3
"""Lags that a fit needs."""
HALF = 0.5
"""Of the lags from the first to the last: with fewer they are single memories."""
LEAST_FALL = 3.0
"""First over last influence, below which nothing falls."""
EXPLAINED = 0.9
"""Of the variance of the logarithms."""
SAME = 0.3
"""By how much rates of two lengths may differ."""
GONE = 1e4
"""First over last influence, from which on it falls however it does."""


@dataclass(frozen=True)
class Fall:
    """influence(s) ~ e^(-rate s) or s^-rate, whichever is nearer."""

    tail: str
    """exponential or polynomial."""
    rate: float
    left: float
    """Mean squared error of the logarithms."""
    other: float
    """That of the other tail."""
    lags: int
    over: float
    """First over last influence."""

    def agrees(self, other: "Fall | None") -> bool:
        """Whether it is the same fall at another length, as it must be to be one over lags; or ends before either."""
        if self.over >= GONE:
            return True
        return (
            other is not None and other.tail == self.tail and abs(other.rate - self.rate) < SAME * self.rate
        )

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return asdict(self)


def find_fall(influence: Mapping[int, float]) -> Fall | None:
    """The fall of an influence from its peak on, lag 0 left aside; None where it does not fall.

    What falls is the largest influence from a lag on, so that a wavelet, which is 0 in between, falls too.

    >>> find_fall({s: 2.0 * s**-0.5 for s in range(1, 20)}).tail
    'polynomial'
    >>> round(find_fall({s: math.exp(-2 * s) for s in range(6)}).rate, 3)
    2.0
    >>> find_fall(dict.fromkeys(range(9), 1.0)) is None
    True
    """
    there = {lag: size for lag, size in sorted(influence.items()) if lag > 0 and size > 0}
    if not there:
        return None
    peak = max(there, key=lambda lag: there[lag])
    lags = [lag for lag in there if lag >= peak]
    if len(lags) < FEWEST or there[lags[0]] < LEAST_FALL * there[lags[-1]]:
        return None
    if len(lags) < HALF * (lags[-1] - lags[0] + 1):
        return None
    logs = np.log(np.maximum.accumulate([there[lag] for lag in reversed(lags)])[::-1])
    fits = {"exponential": np.array(lags, dtype=np.float64), "polynomial": np.log(lags)}
    found = {tail: _line(x, logs) for tail, x in fits.items()}
    tail = min(found, key=lambda name: found[name][1])
    slope, left = found[tail]
    if left > (1 - EXPLAINED) * float(logs.var()) and logs[0] - logs[-1] < math.log(GONE):
        return None
    other = next(error for name, (_, error) in found.items() if name != tail)
    return Fall(tail, -slope, left, other, len(lags), float(np.exp(logs[0] - logs[-1])))


def _line(x: Float[ndarray, " lag"], y: Float[ndarray, " lag"]) -> tuple[float, float]:
    """Slope and mean squared error of the best line."""
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    left = y - y.mean() - slope * centred
    return slope, float((left**2).mean()) if math.isfinite(slope) else math.inf
