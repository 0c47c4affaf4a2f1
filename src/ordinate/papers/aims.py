"""Aims: what a figure claims of its numbers, each a sentence with the number that decides it.

A number has a place: a point of a curve (`Point`), or an x of a line on a sheet (`Place`). A number at one place has an
interval over its seeds; where two errors are compared, seeds and test samples are drawn together.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from typing_extensions import override

from ordinate.lab.evaluation.claims import AtLeast, AtMost, Claim, Predicate
from ordinate.lab.evaluation.statistics import (
    Interval,
    hierarchical_difference,
    hierarchical_ratio,
    hierarchical_trend,
)

SECONDS = "seconds"
"""The point of a curve that is its training time."""


class Place(NamedTuple):
    """The title of a sheet, the label of a line, and x."""

    sheet: str
    line: str
    x: float


class Point(NamedTuple):
    """The label of a curve, and `validation`, `length=100`, `cascade=3` or `seconds`."""

    curve: str
    point: str


Where: TypeAlias = Place | Point


def along(sheet: str, line: str, x: float, other: float) -> tuple[Place, Place]:
    """Two places on one line."""
    return Place(sheet, line, x), Place(sheet, line, other)


def across(sheet: str, line: str, other: str, x: float) -> tuple[Place, Place]:
    """The same x on two lines."""
    return Place(sheet, line, x), Place(sheet, other, x)


class Found(ABC):
    """What was measured."""

    @abstractmethod
    def values(self, at: Where) -> list[float]:
        """One number a seed; NaN for a seed that failed."""

    @abstractmethod
    def errors(self, at: Where) -> tuple[Float[ndarray, "seed sample"], int]:
        """The error of every test sample, for the seeds that ended, and how many seeds failed."""

    def published(self, at: Where) -> float | None:
        """The published number, where one is known."""
        return None


@dataclass(frozen=True)
class Aim(ABC):
    """A sentence about numbers of a figure."""

    sentence: str
    predicate: Predicate
    _: KW_ONLY
    search: str | None = None
    """The figure that shows what was tried, where small models may miss the aim without deciding anything."""

    def claim(self, found: Found, scale: str) -> Claim:
        """The claim with its verdict."""
        return replace(self.judged(found, scale), search=self.search)

    @abstractmethod
    def judged(self, found: Found, scale: str) -> Claim:
        """The claim, without the search."""

    def _over_seeds(self, values: list[float], scale: str, published: float | None = None) -> Claim:
        return Claim.over_seeds(self.sentence, values, self.predicate, scale, published)

    def _compared(self, measured: Interval, scale: str, ends: Sequence[tuple[int, int]]) -> Claim:
        """`ends` are the seeds that ended and those that failed, of each side: the weaker one counts."""
        ended, failed = min(ends)
        return Claim(self.sentence, measured, self.predicate, None, ended + failed, failed, scale)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Shows(Aim):
    """The number at a place."""

    at: Where

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        return self._over_seeds(found.values(self.at), scale, found.published(self.at))


@dataclass(frozen=True)
class Expresses(Aim):
    """The number of a line that is computed: exact, it needs no seeds."""

    at: Where

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        (value,) = found.values(self.at)
        return Claim.of_exact(self.sentence, value, self.predicate, None, scale)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Leads(Aim):
    """How much higher the number at one place is than at another, seed by seed."""

    higher: Where
    lower: Where

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        pairs = zip(found.values(self.higher), found.values(self.lower), strict=True)
        known = found.published(self.higher), found.published(self.lower)
        apart = None if known[0] is None or known[1] is None else known[0] - known[1]
        return self._over_seeds([a - b for a, b in pairs], scale, apart)


@dataclass(frozen=True)
class Keeps(Aim):
    """The share of its own validation score that a curve has at a point; one that learned nothing keeps nothing."""

    at: Point

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        inside = found.values(Point(self.at.curve, "validation"))
        pairs = zip(found.values(self.at), inside, strict=True)
        return self._over_seeds([after / before if before else 0 * after for after, before in pairs], scale)


@dataclass(frozen=True)
class Beats(Aim):
    """How much higher the mean error of one curve is than that of another, over points that both have."""

    better: str
    worse: str
    points: tuple[str, ...]

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        errors, ends = [], []
        for curve in (self.better, self.worse):
            sides = [found.errors(Point(curve, point)) for point in self.points]
            errors.append(np.stack([side for side, _ in sides]))
            ends.append((len(sides[0][0]), sides[0][1]))
        return self._compared(hierarchical_difference(*errors), scale, ends)


@dataclass(frozen=True)
class Ratio(Aim):
    """How many times smaller the error at one place is than at another."""

    better: Where
    worse: Where
    known: float | None = None
    """The published ratio, where its two errors are not numbers of this figure."""

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        (a, failed_a), (b, failed_b) = found.errors(self.better), found.errors(self.worse)
        known = found.published(self.better), found.published(self.worse)
        ratio = known[1] / known[0] if known[0] and known[1] else self.known
        measured = hierarchical_ratio(a, b) if len(a) and len(b) else Interval.unknown(0.95)
        claim = self._compared(measured, scale, [(len(a), failed_a), (len(b), failed_b)])
        return replace(claim, published=ratio)


@dataclass(frozen=True)
class Widens(Aim):
    """The exponent k of (error of the worse) / (error of the better) ~ x^k: above 0 the gap grows with x."""

    better: tuple[Where, ...]
    worse: tuple[Where, ...]
    xs: tuple[float, ...]

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        """Undecided where a seed failed."""
        lines = [[found.errors(at) for at in line] for line in (self.better, self.worse)]
        ends = [(len(errors), failed) for line in lines for errors, failed in line]
        measured = Interval.unknown(0.95)
        if not any(failed for _, failed in ends):
            stacks = [np.stack([errors for errors, _ in line]) for line in lines]
            measured = hierarchical_trend(self.xs, *stacks)
        return self._compared(measured, scale, ends)


@dataclass(frozen=True)
class Steeper(Aim):
    """The exponent k of number ~ x^k on one line, seed by seed; less that of another line, where one is named."""

    sheet: str
    line: str
    xs: tuple[float, ...]
    than: str | None = None

    @override
    def judged(self, found: Found, scale: str) -> Claim:
        slopes = self.slopes(found, self.line)
        if self.than is not None:
            slopes = [a - b for a, b in zip(slopes, self.slopes(found, self.than), strict=True)]
        return self._over_seeds(slopes, scale)

    def slopes(self, found: Found, line: str) -> list[float]:
        """Least squares of log number over log x."""
        values = np.array([found.values(Place(self.sheet, line, x)) for x in self.xs])
        centred = np.log(self.xs) - np.log(self.xs).mean()
        return [float(k) for k in centred @ np.log(values) / (centred @ centred)]


def at_least(curve: str, point: str, share: float, sentence: str) -> Shows:
    """The median over seeds reaches a share."""
    return Shows(sentence, AtLeast(share), Point(curve, point))


def at_most(curve: str, point: str, value: float, sentence: str) -> Shows:
    """The median over seeds stays below a value."""
    return Shows(sentence, AtMost(value), Point(curve, point))
