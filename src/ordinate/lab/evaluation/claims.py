"""Claims: a sentence of a paper with a measurable predicate, and the verdict that a measurement allows.

>>> from ordinate.lab.evaluation.statistics import Interval
>>> claim = Claim(
...     sentence="A generalises better than B.",
...     measured=Interval(300.0, 120.0, 700.0, 0.95),
...     predicate=AtLeast(100.0),
...     published=450.0,
...     seeds=5,
...     failed=0,
...     scale="laptop",
... )
>>> claim.verdict
'supported'
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.predicates import AtLeast, AtMost, Between, Predicate, Verdict, Within
from ordinate.lab.evaluation.statistics import Interval, summarise

__all__ = ["AtLeast", "AtMost", "Between", "Claim", "Predicate", "Verdict", "Within"]

Scale: TypeAlias = Literal["smoke", "demo", "laptop", "paper"]

FEWEST_SEEDS = 3
"""Finite seeds that a verdict rests on at least."""

_UNJUDGED: dict[str, str] = {
    "smoke": "smoke scale proves the path only",
    "demo": "a demonstration is not a measurement",
}


def seeds_note(seeds: int) -> str | None:
    """Say that few seeds carry no verdict; nothing where they are enough.

    >>> seeds_note(1)
    'one seed, no verdict'
    """
    if seeds >= FEWEST_SEEDS:
        return None
    return "one seed, no verdict" if seeds == 1 else f"{seeds} seeds, no verdict"


class Judgement(NamedTuple):
    """A verdict, or `None` where none may be given, and the reason in words."""

    verdict: Verdict | None
    reason: str


@dataclass(frozen=True)
class Claim:
    """A sentence, what was measured for it, and what the sentence says the measurement should be.

    `seeds` counts every seed started, `failed` those among them that gave no finite number; a claim that
    compares two models gives the numbers of the one with fewer finite seeds. `published` is the paper's own
    value, if it has one. A number that is `exact` was computed, not measured: it needs no seeds. `search` names the
    figure that shows what was tried to reach the claim below the published size: small models that do not reach it
    decide nothing about large ones.

    >>> failed = Interval(0.1, 0.0, 0.2, 0.95), AtLeast(0.9), None, 3, 0
    >>> Claim("It is kept.", *failed, "laptop").verdict
    'contradicted'
    >>> Claim("It is kept.", *failed, "laptop", search="symmetry/search-sums").verdict
    'inconclusive'
    >>> Claim("It is kept.", *failed, "paper", search="symmetry/search-sums").verdict
    'contradicted'
    """

    sentence: str
    measured: Interval
    predicate: Predicate
    published: float | int | None
    seeds: int
    failed: int
    scale: Scale
    exact: bool = False
    search: str | None = None

    def __post_init__(self) -> None:
        if self.scale not in get_args(Scale):
            raise OrdinateError(f"unknown scale {self.scale!r}: {nearest(self.scale, get_args(Scale))}")
        if not 0 <= self.failed <= self.seeds:
            raise ValueError(f"of {self.seeds} seeds {self.failed} cannot have failed")

    @classmethod
    def over_seeds(
        cls,
        sentence: str,
        values: Sequence[float],
        predicate: Predicate,
        scale: str,
        published: float | int | None = None,
    ) -> "Claim":
        """Return a claim about the median over seeds; a value that is not finite is a seed that failed.

        >>> Claim.over_seeds("It is small.", [0.1, 0.2, 0.3], AtMost(1), "laptop").measured.estimate
        0.2
        """
        summary = summarise(values)
        there = summary.count > summary.failed
        interval = summary.interval if there else Interval.unknown(0.95)
        return cls(sentence, interval, predicate, published, summary.count, summary.failed, scale)  # type: ignore[arg-type]

    @classmethod
    def of_exact(
        cls,
        sentence: str,
        value: float,
        predicate: Predicate,
        published: float | int | None,
        scale: Scale,
    ) -> "Claim":
        """Return a claim about a number that is known exactly.

        >>> claim = Claim.of_exact("Most sums are easy.", 0.9979, AtLeast(0.99), 0.998, "laptop")
        >>> claim.verdict, claim.basis
        ('supported', 'exact')
        """
        return cls(
            sentence, Interval(value, value, value, 0.95), predicate, published, 0, 0, scale, exact=True
        )

    @property
    def basis(self) -> str:
        """What the number rests on, in a word or two: its seeds, or an exact computation."""
        if self.exact:
            return "exact"
        return f"{self.seeds} ({self.failed} failed)" if self.failed else str(self.seeds)

    @property
    def judgement(self) -> Judgement:
        """Verdict and reason. Too few finite seeds, or a half of them failed, decide nothing."""
        if self.scale in _UNJUDGED:
            said = "one seed, no verdict" if self.seeds == 1 else "no verdict"
            return Judgement(None, f"{said}: {_UNJUDGED[self.scale]}")
        if self.exact:
            verdict = self.predicate.judge(self.measured)
            side = "inside" if verdict == "supported" else "outside"
            return Judgement(verdict, f"the exact value lies {side} “{self.predicate}”")
        if lacking := too_few(self.seeds, self.failed):
            return Judgement("inconclusive", lacking)
        verdict = self.predicate.judge(self.measured)
        level = f"{100 * self.measured.level:g} % interval"
        if math.isnan(self.measured.low) or math.isnan(self.measured.high):
            return Judgement(verdict, f"the {level} is not a number")
        where = f"the {level} {_WHERE[verdict]} “{self.predicate}”"
        if verdict == "contradicted" and self.search is not None and self.scale != "paper":
            return Judgement(
                "inconclusive", f"{where}: not reached at this size, {self.search} shows what was tried"
            )
        return Judgement(verdict, where)

    @property
    def verdict(self) -> Verdict | None:
        """Supported, contradicted or inconclusive; `None` at a scale that gives no verdict."""
        return self.judgement.verdict

    @property
    def reason(self) -> str:
        """Why the verdict is what it is."""
        return self.judgement.reason

    def to_dict(self) -> dict[str, object]:
        """Return the claim with its verdict for JSON; the keys are stable, `search` is there where one is named."""
        return {
            "sentence": self.sentence,
            "verdict": self.verdict,
            "reason": self.reason,
            "measured": self.measured.to_dict(),
            "predicate": self.predicate.to_dict(),
            "published": self.published,
            "seeds": self.seeds,
            "failed": self.failed,
            "scale": self.scale,
            "exact": self.exact,
            **({} if self.search is None else {"search": self.search}),
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Claim":
        """Return the claim that `to_dict` wrote; the verdict is judged anew.

        >>> claim = Claim("A beats B.", Interval(3.0, 2.0, 4.0, 0.95), AtLeast(1), None, 6, 0, "laptop")
        >>> Claim.from_dict(claim.to_dict()) == claim
        True
        """
        numbers = {k: math.nan if v is None else float(v) for k, v in document["measured"].items()}
        kept = {key: document[key] for key in ("sentence", "published", "seeds", "failed", "scale")}
        return cls(
            measured=Interval(**numbers),
            predicate=Predicate.from_dict(document["predicate"]),
            exact=document.get("exact", False),
            search=document.get("search"),
            **kept,
        )


def too_few(seeds: int, failed: int) -> str | None:
    """Why so many seeds, of which some failed, decide nothing; None where they are enough.

    >>> too_few(3, 1), too_few(6, 3), too_few(6, 2)
    ('2 seeds with a finite result, 3 needed', '3 of 6 seeds failed', None)
    """
    finite = seeds - failed
    if finite < FEWEST_SEEDS:
        return f"{_seeds(finite)} with a finite result, {FEWEST_SEEDS} needed"
    return f"{failed} of {_seeds(seeds)} failed" if 2 * failed >= seeds else None


_WHERE: dict[Verdict, str] = {
    "supported": "lies wholly inside",
    "contradicted": "lies wholly outside",
    "inconclusive": "lies partly inside, partly outside",
}


def _seeds(count: int) -> str:
    return "1 seed" if count == 1 else f"{count} seeds"
