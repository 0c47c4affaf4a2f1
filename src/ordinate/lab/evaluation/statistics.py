"""Statistics over few seeds and many test samples: medians, bands, bootstrap intervals, ratios and trends.

A seed whose value is not a finite number has *failed*. `summarise` counts failed seeds and takes its
statistics over the others; the hierarchical functions take finite errors only, and `split_failed` separates
the two with the count, so that no failed seed disappears unseen.

How much an interval over seeds can promise: the range of n seeds covers the median of all possible seeds with
probability 1 - 2^(1-n), whatever the distribution. That is 75 % for 3 seeds and passes 95 % at 6
(`coverage_ceiling`).
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

Seed: TypeAlias = int | np.random.Generator

_BLOCK = 4_000_000
"""Most resampled weights held at once."""


@runtime_checkable
class Statistic(Protocol):
    """A number of each row: `numpy.median`, `numpy.mean` and their like."""

    def __call__(self, values: ndarray, /, *, axis: int) -> ndarray:
        """Reduce the given axis."""
        ...


@dataclass(frozen=True)
class Interval:
    """An estimate and the interval that holds it with confidence `level`; unknown numbers are `nan`.

    >>> Interval(2.0, 1.5, 3.0, 0.95).contains(1.6)
    True
    """

    estimate: float
    low: float
    high: float
    level: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError(f"an interval runs from low to high, got {self.low:g} to {self.high:g}")
        if not 0 < self.level < 1:
            raise ValueError(f"the level is a probability between 0 and 1, got {self.level:g}")

    @classmethod
    def unknown(cls, level: float) -> "Interval":
        """Return the interval of something that could not be measured, as when all seeds failed."""
        return cls(math.nan, math.nan, math.nan, level)

    def contains(self, value: float | int) -> bool:
        """Whether the value lies between low and high, both included."""
        return self.low <= value <= self.high

    def to_dict(self) -> dict[str, float | None]:
        """Return the fields for JSON, `None` where a number is not finite."""
        return {name: _plain(value) for name, value in asdict(self).items()}


@dataclass(frozen=True)
class Summary:
    """One number a seed, summarised over the seeds that finished.

    `count` is the number of seeds started, `failed` how many of them gave no finite number; `low` and `high`
    are the 10th and 90th percentile, `interval` belongs to the median. All are `nan` when every seed failed.
    """

    median: float
    low: float
    high: float
    interval: Interval
    count: int
    failed: int

    @property
    def finite(self) -> int:
        """How many seeds the statistics rest on."""
        return self.count - self.failed

    def to_dict(self) -> dict[str, object]:
        """Return the fields for JSON, `None` where a number is not finite."""
        return {
            "median": _plain(self.median),
            "low": _plain(self.low),
            "high": _plain(self.high),
            "interval": self.interval.to_dict(),
            "count": self.count,
            "failed": self.failed,
        }


def summarise(
    values: Sequence[float] | Float[ndarray, " count"],
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: Seed = 0,
) -> Summary:
    """Return median, 10-90 % band and the bootstrap interval of the median, one value a seed.

    >>> s = summarise([1.0, 2.0, 4.0, float("nan")])
    >>> s.median, s.count, s.failed
    (2.0, 4, 1)
    """
    array = np.asarray(values, dtype=np.float64)
    finite = array[np.isfinite(array)]
    failed = array.size - finite.size
    if not finite.size:
        return Summary(math.nan, math.nan, math.nan, Interval.unknown(level), array.size, failed)
    low, high = np.quantile(finite, [0.1, 0.9])
    interval = bootstrap_interval(finite, level=level, draws=draws, seed=seed)
    return Summary(interval.estimate, float(low), float(high), interval, array.size, failed)


def bootstrap_interval(
    values: Sequence[float] | Float[ndarray, " count"],
    statistic: Statistic = np.median,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: Seed = 0,
) -> Interval:
    """Return the percentile bootstrap interval of a statistic: its quantiles over resamples with replacement.

    >>> interval = bootstrap_interval([1.0, 2.0, 3.0, 4.0, 5.0], np.mean)
    >>> interval.estimate, interval.contains(3.0)
    (3.0, True)
    """
    array = np.asarray(values, dtype=np.float64)
    _refuse_failed(np.isfinite(array), "values")
    if not array.size:
        raise ValueError("an interval needs at least one value, got none")
    picks = np.random.default_rng(seed).integers(array.size, size=(draws, array.size))
    return percentile(float(statistic(array, axis=-1)), statistic(array[picks], axis=-1), level)


def split_failed(
    errors: Float[ndarray, "*point seed sample"],
) -> tuple[Float[ndarray, "*point finite sample"], int]:
    """Separate the seeds whose errors are finite everywhere from the count of those that failed anywhere.

    >>> finite, failed = split_failed(np.array([[1.0, 2.0], [np.inf, 1.0]]))
    >>> finite.shape, failed
    ((1, 2), 1)
    """
    good = np.isfinite(errors).all(axis=(*range(errors.ndim - 2), -1))
    return errors[..., good, :], int((~good).sum())


def hierarchical_ratio(
    errors_a: Float[ndarray, "seed_a sample_a"],
    errors_b: Float[ndarray, "seed_b sample_b"],
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return how many times smaller the error of a is: above 1 means that a is better.

        ratio = median over seeds of (mean over samples of b) / median over seeds of (mean over samples of a)

    The interval is a bootstrap on both levels: each draw resamples the seeds of a and of b, independently of
    each other, and the test samples inside each seed. One draw takes the same sample numbers in every seed
    (of a and of b, if they have equally many): right when they share a test set, because their sampling noise
    is then common, and still valid when every seed has its own.

    No resampling invents seeds: of two equal models with three seeds each, one has all its seeds below those
    of the other in 2 / C(6, 3) = 10 % of studies, and the interval then leaves out 1. Five seeds: 0.8 %.

    >>> hierarchical_ratio(np.full((3, 4), 0.5), np.full((3, 4), 2.0))
    Interval(estimate=4.0, low=4.0, high=4.0, level=0.95)
    """
    estimate, resampled = _log_ratios(errors_a[None], errors_b[None], draws, np.random.default_rng(seed))
    if estimate is None:
        return Interval.unknown(level)
    return percentile(float(np.exp(estimate[0])), np.exp(resampled[:, 0]), level)


def hierarchical_difference(
    errors_a: Float[ndarray, "point seed_a sample_a"],
    errors_b: Float[ndarray, "point seed_b sample_b"],
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return by how much the error of a is lower, on average over points: above 0 means that a is better.

        difference = mean over points of (median over seeds of b's mean error - median over seeds of a's)

    The interval is the bootstrap of `hierarchical_ratio`; a draw takes the same seeds at all points.

    >>> hierarchical_difference(np.zeros((2, 3, 4)), np.full((2, 3, 4), 0.25))
    Interval(estimate=0.25, low=0.25, high=0.25, level=0.95)
    """
    for name, errors in (("errors_a", errors_a), ("errors_b", errors_b)):
        _refuse_failed(np.isfinite(errors), name)
    if not errors_a.size or not errors_b.size:
        return Interval.unknown(level)
    whole_a, whole_b, a, b = _resample_both(errors_a, errors_b, draws, np.random.default_rng(seed))
    return percentile(float((whole_b - whole_a).mean()), (b - a).mean(axis=1), level)


def hierarchical_trend(
    axis: Sequence[float] | Float[ndarray, " point"],
    errors_a: Float[ndarray, "point seed_a sample_a"],
    errors_b: Float[ndarray, "point seed_b sample_b"],
    *,
    draws: int = 2000,
    level: float = 0.95,
    seed: Seed = 0,
) -> Interval:
    """Return whether the advantage of a grows along an axis: the exponent k of ratio ~ axis^k.

        k = least-squares slope of log(ratio) over log(axis), ratio as in `hierarchical_ratio`

    A seed is one model seen at every point, so a draw resamples seeds for all points together.

    >>> errors_b = np.array([1.0, 2.0, 4.0])[:, None, None] * np.ones((3, 5, 10))
    >>> round(hierarchical_trend([1.0, 2.0, 4.0], np.ones((3, 5, 10)), errors_b).estimate, 6)
    1.0
    """
    x = np.asarray(axis, dtype=np.float64)
    if x.shape != errors_a.shape[:1] or x.shape != errors_b.shape[:1]:
        raise ValueError(
            f"one axis value a point: {x.size} values, {len(errors_a)} points of a and {len(errors_b)} of b"
        )
    if np.unique(x).size < 2 or not np.isfinite(x).all() or (x <= 0).any():
        raise ValueError("a trend needs at least two different axis values, all above 0")
    centred = np.log(x) - np.log(x).mean()
    weights = centred / (centred**2).sum()
    estimate, resampled = _log_ratios(errors_a, errors_b, draws, np.random.default_rng(seed))
    if estimate is None:
        return Interval.unknown(level)
    return percentile(float(estimate @ weights), resampled @ weights, level)


def coverage_ceiling(seeds: int) -> float:
    """Return 1 - 2^(1-n): the most that any interval inside the range of n seeds covers their true median.

    >>> coverage_ceiling(3), coverage_ceiling(6)
    (0.75, 0.96875)
    """
    return 1 - 2.0 ** (1 - seeds)


def _log_ratios(
    errors_a: Float[ndarray, "point seed_a sample_a"],
    errors_b: Float[ndarray, "point seed_b sample_b"],
    draws: int,
    rng: np.random.Generator,
) -> tuple[Float[ndarray, " point"] | None, Float[ndarray, "draw point"]]:
    """Return log(b / a) at each point: as measured (`None` without seeds), and once a draw."""
    for name, errors in (("errors_a", errors_a), ("errors_b", errors_b)):
        _refuse_failed(np.isfinite(errors), name)
        if (errors < 0).any():
            raise ValueError(f"a ratio compares errors of at least 0, but {name} holds negative ones")
    if not errors_a.size or not errors_b.size:
        return None, np.empty((0, len(errors_a)))
    whole_a, whole_b, a, b = _resample_both(errors_a, errors_b, draws, rng)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(whole_b) - np.log(whole_a), np.log(b) - np.log(a)


def _resample_both(
    errors_a: Float[ndarray, "point seed_a sample_a"],
    errors_b: Float[ndarray, "point seed_b sample_b"],
    draws: int,
    rng: np.random.Generator,
) -> tuple[
    Float[ndarray, " point"],
    Float[ndarray, " point"],
    Float[ndarray, "draw point"],
    Float[ndarray, "draw point"],
]:
    """Return the errors of a and b at each point, as measured and once a draw; samples are drawn in common."""
    shared = int(rng.integers(2**63))
    a, b = (
        resample(errors.astype(np.float64), draws, seeds=rng, samples=np.random.default_rng(shared))
        for errors in (errors_a, errors_b)
    )
    whole_a, whole_b = (np.median(e.mean(-1, dtype=np.float64), axis=-1) for e in (errors_a, errors_b))
    return whole_a, whole_b, a, b


def resample(
    errors: Float[ndarray, "point seed sample"],
    draws: int,
    *,
    seeds: np.random.Generator,
    samples: np.random.Generator,
) -> Float[ndarray, "draw point"]:
    """Return the median over resampled seeds of the mean over resampled test samples, once a draw."""
    points, count, size = errors.shape
    flat = errors.reshape(points * count, size)
    rows = max(1, _BLOCK // size)
    means = np.concatenate(
        [_weights(min(rows, draws - start), size, samples) @ flat.T for start in range(0, draws, rows)]
    ).reshape(draws, points, count)
    picks = seeds.integers(count, size=(draws, 1, count))
    middle: ndarray = np.median(np.take_along_axis(means, picks, axis=2), axis=2)
    return middle


def _weights(draws: int, size: int, rng: np.random.Generator) -> Float[ndarray, "draw size"]:
    """Return the share of each sample when `size` of them are drawn with replacement."""
    picks = rng.integers(size, size=(draws, size)) + size * np.arange(draws)[:, None]
    return np.bincount(picks.ravel(), minlength=draws * size).reshape(draws, size) / size


def percentile(estimate: float, resampled: Float[ndarray, " draw"], level: float) -> Interval:
    """Return the order statistics that leave out at most (1 - level) / 2 of the draws on each side."""
    if not 0 < level < 1:
        raise ValueError(f"the level is a probability between 0 and 1, got {level:g}")
    low = np.quantile(resampled, (1 - level) / 2, method="lower")
    high = np.quantile(resampled, (1 + level) / 2, method="higher")
    return Interval(estimate, float(low), float(high), level)


def _refuse_failed(finite: Bool[ndarray, "..."], name: str) -> None:
    if not finite.all():
        raise ValueError(
            f"{name} hold {int((~finite).sum())} numbers that are not finite: "
            "separate failed seeds with split_failed and report their count"
        )


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None
