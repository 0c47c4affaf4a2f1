"""Aims: what a figure claims of its curves, each a sentence with the number that decides it.

An aim looks at the exact match of curves at named points (`validation`, `length=100`, `cascade=3`) or at `seconds`. A
number of one curve has an interval over its seeds; an ordering of two curves is judged by a bootstrap over seeds and
test samples together.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.evaluation.claims import AtLeast, AtMost, Claim, Predicate
from ordinate.evaluation.statistics import Interval, hierarchical_difference, split_failed, summarise

SECONDS = "seconds"
"""The point that stands for the time of training."""


@dataclass(frozen=True)
class Measured:
    """A curve as measured: its plain document, and whether each test sample was wrong, by point and seed."""

    document: dict[str, Any]
    errors: Mapping[str, Float[ndarray, "seed sample"]]

    def values(self, point: str) -> list[float]:
        """One number a seed; NaN for a seed that failed."""
        return values_at(self.document, point)


def values_at(curve: dict[str, Any], point: str) -> list[float]:
    """The numbers of all seeds at a point of a curve's document."""
    if point == SECONDS:
        return [math.nan if s is None else float(s) for s in curve["seconds"]]
    for axis in curve["axes"].values():
        if point in axis["names"]:
            place = axis["names"].index(point)
            return [math.nan if row[place] is None else float(row[place]) for row in axis["values"]]
    raise KeyError(point)


@dataclass(frozen=True)
class Aim(ABC):
    """A sentence about curves."""

    sentence: str
    predicate: Predicate

    @abstractmethod
    def judge(self, curves: Mapping[str, Measured]) -> tuple[Interval, int, int]:
        """The number with its interval, the seeds started, and those that failed."""

    def claim(self, curves: Mapping[str, Measured], scale: str, published: float | None = None) -> Claim:
        """The claim with its verdict."""
        interval, seeds, failed = self.judge(curves)
        return Claim(self.sentence, interval, self.predicate, published, seeds, failed, scale)  # type: ignore[arg-type]


def over_seeds(values: Sequence[float]) -> tuple[Interval, int, int]:
    """The median with its interval over seeds; unknown where all failed."""
    summary = summarise(values)
    there = summary.count > summary.failed
    return summary.interval if there else Interval.unknown(0.95), summary.count, summary.failed


@dataclass(frozen=True)
class Reaches(Aim):
    """The number of a curve at a point."""

    curve: str
    point: str

    def judge(self, curves: Mapping[str, Measured]) -> tuple[Interval, int, int]:
        """Median over seeds."""
        return over_seeds(curves[self.curve].values(self.point))


@dataclass(frozen=True)
class Falls(Aim):
    """How much lower a curve is at a point than at an earlier one: the difference of every seed."""

    curve: str
    point: str
    earlier: str

    def judge(self, curves: Mapping[str, Measured]) -> tuple[Interval, int, int]:
        """Median over seeds of the difference."""
        curve = curves[self.curve]
        pairs = zip(curve.values(self.earlier), curve.values(self.point), strict=True)
        return over_seeds([before - after for before, after in pairs])


@dataclass(frozen=True)
class Keeps(Aim):
    """The share of its own validation score that a curve has at a point."""

    curve: str
    point: str

    def judge(self, curves: Mapping[str, Measured]) -> tuple[Interval, int, int]:
        """Median over seeds of the ratio; a model that learned nothing keeps nothing."""
        curve = curves[self.curve]
        pairs = zip(curve.values(self.point), curve.values("validation"), strict=True)
        return over_seeds([after / before if before else 0 * after for after, before in pairs])


@dataclass(frozen=True)
class Beats(Aim):
    """How much higher one curve is than another, on average over points that both have."""

    better: str
    worse: str
    points: tuple[str, ...]

    def judge(self, curves: Mapping[str, Measured]) -> tuple[Interval, int, int]:
        """Bootstrap over seeds and test samples; the counts are those of the curve with fewer finite seeds."""
        counts, errors = [], []
        for label in (self.better, self.worse):
            finite, failed = split_failed(np.stack([curves[label].errors[point] for point in self.points]))
            counts.append((finite.shape[1], finite.shape[1] + failed, failed))
            errors.append(finite)
        _, seeds, failed = min(counts)
        return hierarchical_difference(*errors), seeds, failed


def at_least(curve: str, point: str, share: float, sentence: str) -> Reaches:
    """The median over seeds reaches a share."""
    return Reaches(sentence, AtLeast(share), curve, point)


def at_most(curve: str, point: str, value: float, sentence: str) -> Reaches:
    """The median over seeds stays below a value."""
    return Reaches(sentence, AtMost(value), curve, point)
