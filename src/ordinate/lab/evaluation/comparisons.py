"""Comparisons of many models with each other: which is better, by how much, and whether that outlasts a correction.

A pair by itself is judged by the rule for orderings: a bootstrap over seeds and test samples together, whose interval
must leave out 0. Among many pairs some differ by chance, so the p-values are corrected (Holm, 1979): with m pairs in
order of their p-values,

    p'_(k) = max over j <= k of min(1, (m - j + 1) p_(j))

and the chance of one false ordering or more among all of them stays below 5 %.

No resampling invents seeds: of two equal models with n_a and n_b seeds, all seeds of one lie below all of the other in
2 / C(n_a + n_b, n_a) of studies, and the bootstrap calls each of them an ordering. That share is the least p-value that
a pair is given: 0.1 for three seeds each, 0.002 for six.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.lab.evaluation.claims import too_few
from ordinate.lab.evaluation.statistics import Interval, percentile, resample
from ordinate.lab.seeds import derive

LEVEL = 0.95


@dataclass(frozen=True)
class Measured:
    """A model at a point: the error of every test sample for the seeds that ended, and how many seeds failed."""

    label: str
    errors: Float[ndarray, "seed sample"]
    failed: int = 0

    @property
    def error(self) -> float:
        """Median over seeds of the mean error; `nan` without a seed that ended."""
        return float(np.median(self.errors.mean(axis=1))) if self.errors.size else math.nan

    def lacking(self) -> str | None:
        """Why its seeds decide nothing; None where they are enough."""
        reason = too_few(len(self.errors) + self.failed, self.failed)
        return reason and f"{self.label}: {reason}"


@dataclass(frozen=True)
class Comparison:
    """Two models at a point: `difference` is by how much the error of a is lower; above 0 means that a is better."""

    a: str
    b: str
    errors: tuple[float, float]
    difference: Interval
    p: float
    corrected: float
    alone: str | None
    """The better one, as far as this pair by itself can tell."""
    better: str | None
    """The better one, after the correction for all pairs."""
    reason: str


def compare(
    *groups: Sequence[Measured], baseline: str | None = None, draws: int = 4000, seed: int = 0
) -> list[list[Comparison]]:
    """Compare every model of a group with every other of it, or with the baseline; correct for the pairs of all groups.

    Each model is resampled once: its own draws of seeds, and draws of test samples that all have in common.

    >>> rng = np.random.default_rng(0)
    >>> good, bad = (Measured(f"at {level}", level * rng.exponential(size=(6, 50))) for level in (1, 9))
    >>> [[found]] = compare([good, bad])
    >>> found.better, round(found.corrected, 4)
    ('at 1', 0.0022)
    """
    families = [_pairs(group, baseline, draws, seed) for group in groups]
    p = [pair.p for family in families for pair in family]
    corrected = iter(holm(p))
    return [[pair.judged(next(corrected), len(p)) for pair in family] for family in families]


def holm(p: Sequence[float]) -> list[float]:
    """Return the corrected p-values, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda place: p[place])
    corrected, least = [0.0] * len(p), 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, (len(p) - rank) * p[place]))
        corrected[place] = least
    return corrected


def least_p(seeds_a: int, seeds_b: int) -> float:
    """Return the least p-value that so many seeds can carry: 2 / C(n_a + n_b, n_a).

    >>> least_p(3, 3), round(least_p(6, 6), 4)
    (0.1, 0.0022)
    """
    return min(1.0, 2 / math.comb(seeds_a + seeds_b, seeds_a))


def seeds_needed(comparisons: int, level: float = LEVEL) -> int:
    """Return how many seeds each model needs for any of so many comparisons to be decided.

    >>> seeds_needed(1), seeds_needed(6), seeds_needed(45)
    (4, 5, 7)
    """
    return next(n for n in range(1, 100) if comparisons * least_p(n, n) <= 1 - level)


def _pairs(group: Sequence[Measured], baseline: str | None, draws: int, seed: int) -> "list[_Pair]":
    drawn = [None if model.lacking() else _draws(model, draws, seed) for model in group]
    pairs = combinations(zip(group, drawn, strict=True), 2)
    return [
        _Pair(a, b, None if of_a is None or of_b is None else of_b - of_a)
        for (a, of_a), (b, of_b) in pairs
        if baseline is None or baseline in (a.label, b.label)
    ]


def _draws(model: Measured, draws: int, seed: int) -> Float[ndarray, " draw"]:
    """The model's error, once a draw of seeds and test samples."""
    seeds = np.random.default_rng(derive(seed, "seeds", model.label))
    samples = np.random.default_rng(derive(seed, "samples"))
    return resample(model.errors.astype(np.float64)[None], draws, seeds=seeds, samples=samples)[:, 0]


@dataclass(frozen=True)
class _Pair:
    """Two models, and by how much the error of a is lower, once a draw; None where seeds are lacking."""

    a: Measured
    b: Measured
    drawn: Float[ndarray, " draw"] | None

    @property
    def least(self) -> float:
        """The least p-value that their seeds can carry."""
        return least_p(len(self.a.errors), len(self.b.errors))

    @cached_property
    def p(self) -> float:
        """Two-sided: how often the difference lies on the other side of 0, or as seldom as the seeds allow."""
        if self.drawn is None:
            return 1.0
        below, above = (1 + np.count_nonzero(side) for side in (self.drawn <= 0, self.drawn >= 0))
        return float(max(min(1.0, 2 * min(below, above) / (1 + self.drawn.size)), self.least))

    def judged(self, corrected: float, pairs: int) -> Comparison:
        """The comparison, one of so many."""
        a, b, difference, alone = self.a, self.b, Interval.unknown(LEVEL), None
        if self.drawn is not None:
            difference = percentile(b.error - a.error, self.drawn, LEVEL)
            if difference.low > 0 or difference.high < 0:
                alone = a.label if difference.low > 0 else b.label
        better = alone if corrected <= 1 - LEVEL else None
        reason = a.lacking() or b.lacking() or self._reason(alone, better, pairs)
        errors = (a.error, b.error)
        return Comparison(a.label, b.label, errors, difference, self.p, corrected, alone, better, reason)

    def _reason(self, alone: str | None, better: str | None, pairs: int) -> str:
        if better is not None:
            return f"{better} is better"
        if alone is None:
            return "the interval of the difference holds 0"
        if pairs * self.least > 1 - LEVEL and self.p <= self.least:
            among = "one comparison needs" if pairs == 1 else f"{pairs} comparisons need"
            return f"{alone} is better by itself, but {among} {seeds_needed(pairs)} seeds each"
        return f"{alone} is better by itself, not among {pairs} comparisons"
