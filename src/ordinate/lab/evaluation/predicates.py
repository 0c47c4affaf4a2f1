"""What a claim says of a number, and what an interval says of the claim."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ordinate.lab.evaluation.statistics import Interval

Verdict: TypeAlias = Literal["supported", "contradicted", "inconclusive"]


@dataclass(frozen=True)
class Predicate(ABC):
    """What a claim says of a number: that it lies in the range from `lowest` to `highest`, ends included.

    An interval wholly inside supports the claim, one wholly outside contradicts it, others decide nothing.
    """

    kind: ClassVar[str]

    @property
    @abstractmethod
    def lowest(self) -> float:
        """Smallest number that satisfies the claim."""

    @property
    @abstractmethod
    def highest(self) -> float:
        """Largest number that satisfies the claim."""

    def judge(self, measured: Interval) -> Verdict:
        """Return what the whole interval says."""
        if self.lowest <= measured.low and measured.high <= self.highest:
            return "supported"
        if measured.high < self.lowest or self.highest < measured.low:
            return "contradicted"
        return "inconclusive"

    def to_dict(self) -> dict[str, str | float | None]:
        """Return kind, text and range for JSON; `None` where the range has no end."""
        lowest, highest = (end if math.isfinite(end) else None for end in (self.lowest, self.highest))
        return {"kind": self.kind, "text": str(self), "lowest": lowest, "highest": highest}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> "Predicate":
        """Return the predicate that `to_dict` wrote."""
        if document["kind"] == AtLeast.kind:
            return AtLeast(document["lowest"])
        if document["kind"] == AtMost.kind:
            return AtMost(document["highest"])
        if document["kind"] == Between.kind:
            return Between(document["lowest"], document["highest"])
        return Within(document["highest"])


@dataclass(frozen=True)
class AtLeast(Predicate):
    """The number is `bound` or more.

    >>> str(AtLeast(100))
    'at least 100'
    """

    kind: ClassVar[str] = "at least"
    bound: float | int

    @property
    def lowest(self) -> float:  # noqa: D102
        return float(self.bound)

    @property
    def highest(self) -> float:  # noqa: D102
        return math.inf

    def __str__(self) -> str:
        return f"at least {self.bound:g}"


@dataclass(frozen=True)
class AtMost(Predicate):
    """The number is `bound` or less."""

    kind: ClassVar[str] = "at most"
    bound: float | int

    @property
    def lowest(self) -> float:  # noqa: D102
        return -math.inf

    @property
    def highest(self) -> float:  # noqa: D102
        return float(self.bound)

    def __str__(self) -> str:
        return f"at most {self.bound:g}"


@dataclass(frozen=True)
class Between(Predicate):
    """The number lies from `low` to `high`.

    >>> Between(0.9975, 0.9985).judge(Interval(0.998, 0.9979, 0.9981, 0.95))
    'supported'
    """

    kind: ClassVar[str] = "between"
    low: float | int
    high: float | int

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"a range runs from low to high, got {self.low:g} to {self.high:g}")

    @property
    def lowest(self) -> float:  # noqa: D102
        return float(self.low)

    @property
    def highest(self) -> float:  # noqa: D102
        return float(self.high)

    def __str__(self) -> str:
        return f"between {self.low:g} and {self.high:g}"


@dataclass(frozen=True)
class Within(Predicate):
    """Equivalence: the ratio of two things lies between 1/factor and factor.

    >>> Within(10).judge(Interval(2.0, 0.5, 8.0, 0.95))
    'supported'
    """

    kind: ClassVar[str] = "within a factor"
    factor: float | int

    def __post_init__(self) -> None:
        if not self.factor >= 1:
            raise ValueError(f"a factor is 1 or more, got {self.factor:g}")

    @property
    def lowest(self) -> float:  # noqa: D102
        return 1 / self.factor

    @property
    def highest(self) -> float:  # noqa: D102
        return float(self.factor)

    def __str__(self) -> str:
        return f"within a factor {self.factor:g}"
