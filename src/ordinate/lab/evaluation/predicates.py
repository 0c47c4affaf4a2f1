"""What a claim says of a number, and what an interval says of the claim."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ordinate.lab.evaluation.statistics import Interval

Verdict: TypeAlias = Literal["supported", "contradicted", "inconclusive"]


@dataclass(frozen=True)
class Predicate:
    """What a claim says of a number: that it lies in the range from `lowest` to `highest`, ends included.

    An interval wholly inside supports the claim, one wholly outside contradicts it, others decide nothing.
    """

    kind: ClassVar[str]

    lowest: float
    highest: float
    text: str

    def __str__(self) -> str:
        return self.text

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
        return {"kind": self.kind, "text": self.text, "lowest": lowest, "highest": highest}

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> "Predicate":
        """Return the predicate that `to_dict` wrote."""
        lowest, highest = document["lowest"], document["highest"]
        if document["kind"] == Between.kind:
            return Between(lowest, highest)
        if document["kind"] == AtLeast.kind:
            return AtLeast(lowest)
        return (AtMost if document["kind"] == AtMost.kind else Within)(highest)


class AtLeast(Predicate):
    """The number is `bound` or more.

    >>> str(AtLeast(100))
    'at least 100'
    """

    kind = "at least"

    def __init__(self, bound: float | int) -> None:
        super().__init__(float(bound), math.inf, f"at least {bound:g}")


class AtMost(Predicate):
    """The number is `bound` or less."""

    kind = "at most"

    def __init__(self, bound: float | int) -> None:
        super().__init__(-math.inf, float(bound), f"at most {bound:g}")


class Between(Predicate):
    """The number lies from `low` to `high`.

    >>> Between(0.9975, 0.9985).judge(Interval(0.998, 0.9979, 0.9981, 0.95))
    'supported'
    """

    kind = "between"

    def __init__(self, low: float | int, high: float | int) -> None:
        if not low <= high:
            raise ValueError(f"a range runs from low to high, got {low:g} to {high:g}")
        super().__init__(float(low), float(high), f"between {low:g} and {high:g}")


class Within(Predicate):
    """Equivalence: the ratio of two things lies between 1/factor and factor.

    >>> Within(10).judge(Interval(2.0, 0.5, 8.0, 0.95))
    'supported'
    """

    kind = "within a factor"

    def __init__(self, factor: float | int) -> None:
        if not factor >= 1:
            raise ValueError(f"a factor is 1 or more, got {factor:g}")
        super().__init__(1 / factor, float(factor), f"within a factor {factor:g}")
