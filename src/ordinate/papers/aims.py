"""Aims: what a figure claims of its curves, each a sentence with the number that decides it.

An aim looks at the exact match of curves at named points (`validation`, `length=100`, `cascade=3`) or at `seconds`. A
number of one curve has an interval over its seeds; an ordering of two curves is judged by a bootstrap over seeds and
test samples together.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.lab.evaluation.claims import AtLeast, AtMost, Claim, Predicate
from ordinate.lab.evaluation.statistics import hierarchical_difference, split_failed

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
    def claim(self, curves: Mapping[str, Measured], scale: str) -> Claim:
        """The claim with its verdict."""


@dataclass(frozen=True)
class SeedAim(Aim):
    """One number a seed, judged by their median."""

    curve: str
    point: str

    @abstractmethod
    def numbers(self, curve: Measured) -> list[float]:
        """The number of every seed; NaN for one that failed."""

    def claim(self, curves: Mapping[str, Measured], scale: str) -> Claim:
        """Median with its interval over seeds."""
        return Claim.over_seeds(self.sentence, self.numbers(curves[self.curve]), self.predicate, scale)


@dataclass(frozen=True)
class Reaches(SeedAim):
    """The number of a curve at a point."""

    def numbers(self, curve: Measured) -> list[float]:
        """As measured."""
        return curve.values(self.point)


@dataclass(frozen=True)
class Falls(SeedAim):
    """How much lower a curve is at a point than at an earlier one."""

    earlier: str

    def numbers(self, curve: Measured) -> list[float]:
        """The difference of every seed."""
        pairs = zip(curve.values(self.earlier), curve.values(self.point), strict=True)
        return [before - after for before, after in pairs]


@dataclass(frozen=True)
class Keeps(SeedAim):
    """The share of its own validation score that a curve has at a point."""

    def numbers(self, curve: Measured) -> list[float]:
        """The ratio of every seed; a model that learned nothing keeps nothing."""
        pairs = zip(curve.values(self.point), curve.values("validation"), strict=True)
        return [after / before if before else 0 * after for after, before in pairs]


@dataclass(frozen=True)
class Beats(Aim):
    """How much higher one curve is than another, on average over points that both have."""

    better: str
    worse: str
    points: tuple[str, ...]

    def claim(self, curves: Mapping[str, Measured], scale: str) -> Claim:
        """Bootstrap over seeds and test samples; the counts are those of the curve with fewer finite seeds."""
        counts, errors = [], []
        for label in (self.better, self.worse):
            finite, failed = split_failed(np.stack([curves[label].errors[point] for point in self.points]))
            counts.append((finite.shape[1], finite.shape[1] + failed, failed))
            errors.append(finite)
        _, seeds, failed = min(counts)
        interval = hierarchical_difference(*errors)
        return Claim(self.sentence, interval, self.predicate, None, seeds, failed, scale)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Sought(Aim):
    """An aim that small models may miss without deciding anything; a figure shows what was tried."""

    aim: Aim
    search: str

    def claim(self, curves: Mapping[str, Measured], scale: str) -> Claim:
        """The claim of the aim, with the search named."""
        return replace(self.aim.claim(curves, scale), search=self.search)


def sought(aim: Aim, search: str) -> Sought:
    """The aim, with the figure that shows what was tried to reach it."""
    return Sought(aim.sentence, aim.predicate, aim, search)


def at_least(curve: str, point: str, share: float, sentence: str) -> Reaches:
    """The median over seeds reaches a share."""
    return Reaches(sentence, AtLeast(share), curve, point)


def at_most(curve: str, point: str, value: float, sentence: str) -> Reaches:
    """The median over seeds stays below a value."""
    return Reaches(sentence, AtMost(value), curve, point)
