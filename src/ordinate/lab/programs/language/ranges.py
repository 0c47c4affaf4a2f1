"""Ranges of values, with interval arithmetic, and refusals that name a program's line."""

import linecache
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from ordinate.errors import OrdinateError


@dataclass(frozen=True)
class Range:
    """low <= value <= high; `whole` promises whole numbers.

    >>> Range(0, 9, whole=True) + Range(0, 9, whole=True)
    Range(low=0, high=18, whole=True)
    >>> str(Range(-1, 1)), str(Range(0, 9, whole=True)), str(Range())
    ('[-1, 1]', 'whole numbers in [0, 9]', 'unknown')
    """

    low: int | float = -math.inf
    high: int | float = math.inf
    whole: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise OrdinateError(f"a range goes from low to high, got {self.low:g} to {self.high:g}")

    @property
    def known(self) -> bool:
        """Whether both ends are finite."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def magnitude(self) -> float:
        """The largest absolute value."""
        return float(max(abs(self.low), abs(self.high)))

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high, self.whole and other.whole)

    def __mul__(self, factor: int | float) -> "Range":
        """The range of factor * value; zero times anything is zero."""
        if factor == 0:
            return Range(0, 0, whole=True)
        ends = sorted((self.low * factor, self.high * factor))
        return Range(ends[0], ends[1], self.whole and factor == round(factor))

    def relu(self) -> "Range":
        """The range of max(value, 0)."""
        return Range(max(self.low, 0), max(self.high, 0), self.whole)

    def hull(self, other: "Range") -> "Range":
        """The smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high), self.whole and other.whole)

    def within(self, other: "Range") -> "Range":
        """Both at once: what is known of a value that two ranges are known of."""
        return Range(max(self.low, other.low), min(self.high, other.high), self.whole or other.whole)

    def holds(self, other: "Range") -> bool:
        """Whether every value of `other` is a value of this range."""
        return self.low <= other.low and other.high <= self.high and (other.whole or not self.whole)

    def __str__(self) -> str:
        if not self.known:
            return (
                "unknown"
                if self.low == -math.inf and self.high == math.inf
                else f"[{self.low:g}, {self.high:g}]"
            )
        return f"{'whole numbers in ' if self.whole else ''}[{self.low:g}, {self.high:g}]"


FLAG = Range(0, 1, whole=True)
"""The range of yes and no."""


def point(value: int | float) -> Range:
    """The range of one number."""
    return Range(value, value, value == round(value))


_PROGRAMS = __name__.removesuffix(".language.ranges")
_MACHINERY = (
    *(f"{_PROGRAMS}.{part}" for part in ("language", "compiler", "machine", "program", "verify")),
    *("jaxtyping", "beartype"),  # wrappers that check shapes in tests
)


@dataclass(frozen=True)
class Line:
    """A line of a program."""

    file: str
    number: int
    text: str

    def __str__(self) -> str:
        code = f" `{self.text}`" if self.text else ""
        return f"{Path(self.file).name}, line {self.number}:{code}"


def user_line() -> Line:
    """The line of the program that is being run: the innermost one outside of language, machine and compiler."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_machinery(frame):
        frame = frame.f_back
    name, number = frame.f_code.co_filename, frame.f_lineno
    return Line(name, number, linecache.getline(name, number).strip())


def _is_machinery(frame: FrameType) -> bool:
    return (
        frame.f_globals.get("__name__", "").startswith(_MACHINERY) or "@beartype" in frame.f_code.co_filename
    )


def refuse(reason: str, line: Line | None = None) -> NoReturn:
    """Refuse a program: its line, then why, and what to write instead."""
    raise OrdinateError(f"{line or user_line()} {reason}")
