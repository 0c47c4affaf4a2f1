"""The table of verdicts: claims with what was measured, needed and published."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ordinate.lab.evaluation.claims import FEWEST_SEEDS, Claim, Verdict
from ordinate.lab.evaluation.statistics import coverage_ceiling
from ordinate.lab.report.frames import Frame, file_name, verdicts_frame
from ordinate.lab.report.numbers import show_interval, show_number

_BADGES: dict[Verdict | None, tuple[str, str]] = {
    "supported": ("✓", "supported"),
    "contradicted": ("✗", "contradicted"),
    "inconclusive": ("?", "inconclusive"),
    None: ("○", "no verdict"),
}


@dataclass(frozen=True)
class VerdictTable:
    """Claims with their verdicts: what was measured, needed and published, seeds and scale.

    Claims of several figures each name theirs in `figures`, the names of groups of the same report.
    """

    claims: Sequence[Claim]
    title: str = "Verdicts"
    figures: Sequence[str] = ()
    figure: str = ""
    """The figure that all of them are of, where there is one."""
    name: str = "verdicts"

    def body(self) -> str:
        """Return a tally, a table (cards on a narrow screen) and what the intervals promise."""
        if not self.claims:
            return "<p>No claims.</p>"
        of = self.figures or [""] * len(self.claims)
        rows = "\n".join(map(_claim_row, self.claims, of))
        names = ["Verdict", "Claim", *(["Figure"] if self.figures else []), "Measured", "Needed"]
        names += ["Published", "Seeds", "Scale"]
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"
        return f'{_tally(self.claims)}\n<div class="cards">{table}</div>\n{_small_print(self.claims)}'

    def frames(self) -> list[Frame]:
        """The claims as rows."""
        of = self.figures or [self.figure] * len(self.claims)
        return [verdicts_frame(self.name, list(zip(of, self.claims, strict=True)))] if self.claims else []


def badge(verdict: Verdict | None) -> str:
    """Return a verdict as sign and word, so that it can be read without colour."""
    sign, word = _BADGES[verdict]
    sign = f'<span aria-hidden="true">{sign}</span>'
    return f'<span class="badge {word.replace(" ", "-")}">{sign} {word}</span>'


def _claim_row(claim: Claim, figure: str) -> str:
    failed = f' <span class="failed">({claim.failed} failed)</span>' if claim.failed else ""
    estimate, interval = show_interval(claim.measured).split(" ", 1)
    named = {
        "Measured": estimate if claim.exact else f'{estimate} <span class="whole">{interval}</span>',
        "Needed": escape(str(claim.predicate)),
        "Published": show_number(claim.published),
        "Seeds": claim.basis if claim.exact else f"{claim.seeds}{failed}",
        "Scale": claim.scale,
    }
    cells = "".join(f'<td class="named" data-label="{name}">{value}</td>' for name, value in named.items())
    sentence = f'{escape(claim.sentence)}<span class="reason">{escape(claim.reason)}</span>'
    link = f'<a href="#{file_name(figure)}">{escape(figure)}</a>'
    of = f'<td class="named" data-label="Figure">{link}</td>' if figure else ""
    return f"<tr><td>{badge(claim.verdict)}</td><td>{sentence}</td>{of}{cells}</tr>"


def _tally(claims: Sequence[Claim]) -> str:
    counts = Counter(claim.verdict for claim in claims)
    parts = (f"{counts[verdict]} {word}" for verdict, (_, word) in _BADGES.items() if counts[verdict])
    total = "1 claim" if len(claims) == 1 else f"{len(claims)} claims"
    return f'<p class="tally">{total}: {", ".join(parts)}.</p>'


def _small_print(claims: Sequence[Claim]) -> str:
    """Say what the brackets are, and what few seeds cannot promise."""
    claims = [claim for claim in claims if not claim.exact]
    if not claims:
        return '<p class="small">All numbers are exact.</p>'
    levels = sorted({claim.measured.level for claim in claims})
    text = f"In brackets: the {' or '.join(f'{100 * level:g} %' for level in levels)} bootstrap interval."
    judged = [claim.seeds - claim.failed for claim in claims if claim.verdict]
    fewest = min((finite for finite in judged if finite >= FEWEST_SEEDS), default=0)
    if fewest and coverage_ceiling(fewest) < levels[-1]:
        ceiling = f"{100 * coverage_ceiling(fewest):.3g} %"
        text += (
            f" Few seeds promise less than that: some rows rest on {fewest}, and the whole range of {fewest} "
            f"seeds holds the median of all possible seeds with probability {ceiling} only."
        )
    return f'<p class="small">{text}</p>'
