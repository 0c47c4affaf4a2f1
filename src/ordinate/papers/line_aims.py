"""Aims of figures made of lines: what they claim of a number, of two models, or of one model at two places."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.lab.evaluation.claims import Claim, Predicate
from ordinate.lab.evaluation.statistics import Interval, hierarchical_ratio, hierarchical_trend


class Place(NamedTuple):
    """Where a number stands: the title of a sheet, the label of a line, and x."""

    sheet: str
    line: str
    x: float


class Found(ABC):
    """What was measured."""

    @abstractmethod
    def values(self, place: Place) -> list[float]:
        """One number a seed; NaN for a seed that failed."""

    @abstractmethod
    def errors(self, place: Place) -> tuple[Float[ndarray, "seed sample"], int]:
        """The error of every test sample, for the seeds that ended, and how many seeds failed."""

    @abstractmethod
    def published(self, place: Place) -> float | None:
        """The published number, where one is known."""

    @property
    @abstractmethod
    def seeds(self) -> int:
        """How many seeds were started."""


@dataclass(frozen=True)
class LineAim(ABC):
    """A sentence about numbers of a figure."""

    sentence: str
    predicate: Predicate

    @abstractmethod
    def claim(self, found: Found, scale: str) -> Claim:
        """The claim with its verdict."""


@dataclass(frozen=True)
class Shows(LineAim):
    """The number at a place: the median over seeds."""

    at: Place

    def claim(self, found: Found, scale: str) -> Claim:
        """Median with its interval over seeds."""
        known = found.published(self.at)
        return Claim.over_seeds(self.sentence, found.values(self.at), self.predicate, scale, known)


@dataclass(frozen=True)
class Expresses(LineAim):
    """The number of a line that is computed: exact, it needs no seeds."""

    at: Place

    def claim(self, found: Found, scale: str) -> Claim:
        """The number itself."""
        (value,) = found.values(self.at)
        return Claim.of_exact(self.sentence, value, self.predicate, None, scale)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Leads(LineAim):
    """How much higher the number at one place is than at another, seed by seed."""

    higher: Place
    lower: Place

    def claim(self, found: Found, scale: str) -> Claim:
        """Median of the differences with its interval over seeds."""
        high, low = found.values(self.higher), found.values(self.lower)
        known = found.published(self.higher), found.published(self.lower)
        apart = None if known[0] is None or known[1] is None else known[0] - known[1]
        differences = [a - b for a, b in zip(high, low, strict=True)]
        return Claim.over_seeds(self.sentence, differences, self.predicate, scale, apart)


@dataclass(frozen=True)
class Ratio(LineAim):
    """How many times smaller the error at one place is than at another."""

    better: Place
    worse: Place
    known: float | None = None
    """The published ratio, where its two errors are not numbers of this figure."""

    def claim(self, found: Found, scale: str) -> Claim:
        """Bootstrap over seeds and test samples."""
        (a, failed_a), (b, failed_b) = found.errors(self.better), found.errors(self.worse)
        known = found.published(self.better), found.published(self.worse)
        ratio = known[1] / known[0] if known[0] and known[1] else self.known
        measured = hierarchical_ratio(a, b) if len(a) and len(b) else Interval.unknown(0.95)
        failed = max(failed_a, failed_b)
        return Claim(self.sentence, measured, self.predicate, ratio, found.seeds, failed, scale)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Widens(LineAim):
    """The exponent k of (error of the worse) / (error of the better) ~ x^k: above 0 the gap grows with x."""

    sheet: str
    better: str
    worse: str
    xs: tuple[float, ...]

    def claim(self, found: Found, scale: str) -> Claim:
        """Bootstrap over seeds and test samples; undecided where a seed failed."""
        lines = [
            [found.errors(Place(self.sheet, line, x)) for x in self.xs] for line in (self.better, self.worse)
        ]
        failed = max(count for line in lines for _, count in line)
        measured = Interval.unknown(0.95)
        if not failed:
            measured = hierarchical_trend(
                self.xs, *(np.stack([errors for errors, _ in line]) for line in lines)
            )
        return Claim(self.sentence, measured, self.predicate, None, found.seeds, failed, scale)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Steeper(LineAim):
    """The exponent k of number ~ x^k on one line, seed by seed; less that of another line, where one is named."""

    sheet: str
    line: str
    xs: tuple[float, ...]
    than: str | None = None

    def claim(self, found: Found, scale: str) -> Claim:
        """Median of the exponents, or of their differences, with its interval over seeds."""
        slopes = self.slopes(found, self.line)
        if self.than is not None:
            slopes = [a - b for a, b in zip(slopes, self.slopes(found, self.than), strict=True)]
        return Claim.over_seeds(self.sentence, slopes, self.predicate, scale)

    def slopes(self, found: Found, line: str) -> list[float]:
        """Least squares of log number over log x."""
        values = np.array([found.values(Place(self.sheet, line, x)) for x in self.xs])
        centred = np.log(self.xs) - np.log(self.xs).mean()
        return [float(k) for k in centred @ np.log(values) / (centred @ centred)]
