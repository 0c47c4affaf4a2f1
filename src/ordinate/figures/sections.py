"""The parts a report is made of. Each turns itself into HTML; all text of the caller is escaped."""

from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol, runtime_checkable

from matplotlib.figure import Figure

from ordinate.evaluation.claims import FEWEST_SEEDS, Claim, Verdict
from ordinate.evaluation.statistics import Interval, coverage_ceiling
from ordinate.figures.numbers import show_interval, show_number
from ordinate.figures.save import figure_bytes

LARGEST_SVG = 600_000
"""Bytes above which a drawing goes into the report as PNG."""

_BADGES: dict[Verdict | None, tuple[str, str]] = {
    "supported": ("✓", "supported"),
    "contradicted": ("✗", "contradicted"),
    "inconclusive": ("?", "inconclusive"),
    None: ("○", "no verdict"),
}


@runtime_checkable
class Section(Protocol):
    """A part of a report: a heading, left out if empty, and what stands under it."""

    @property
    def title(self) -> str:
        """The heading."""
        ...

    def body(self) -> str:
        """Return the HTML under the heading."""
        ...


@dataclass(frozen=True)
class VerdictTable:
    """Claims with their verdicts: what was measured, needed and published, seeds and scale."""

    claims: Sequence[Claim]
    title: str = "Verdicts"

    def body(self) -> str:
        """Return a tally, a table (cards on a narrow screen) and what the intervals promise."""
        if not self.claims:
            return "<p>No claims.</p>"
        rows = "\n".join(map(_claim_row, self.claims))
        names = ["Verdict", "Claim", "Measured", "Needed", "Published", "Seeds", "Scale"]
        head = "".join(f'<th scope="col">{name}</th>' for name in names)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"
        return f'{_tally(self.claims)}\n<div class="cards">{table}</div>\n{_small_print(self.claims)}'


@dataclass(frozen=True)
class Table:
    """Rows of anything: numbers and intervals are rounded to three figures, numbers are set to the right.

    >>> "<td class=\\"number\\">0.0585</td>" in Table(["task", "MSE"], [["sum", 0.05849]]).body()
    True
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.headers):
                raise ValueError(f"{len(self.headers)} headers but a row of {len(row)} cells: {list(row)}")

    def body(self) -> str:
        """Return the table, in a box that scrolls sideways if need be."""
        numeric = [
            bool(self.rows) and all(row[i] is None or _is_number(row[i]) for row in self.rows)
            for i in range(len(self.headers))
        ]
        classes = [' class="number"' if number else "" for number in numeric]
        head = "".join(
            f'<th scope="col"{c}>{escape(h)}</th>' for h, c in zip(self.headers, classes, strict=True)
        )
        rows = "\n".join(
            f"<tr>{''.join(f'<td{c}>{_cell(v)}</td>' for v, c in zip(row, classes, strict=True))}</tr>"
            for row in self.rows
        )
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        table = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"
        return f'<div class="scroll" tabindex="0">{table}</div>'


@dataclass(frozen=True)
class FigureSection:
    """A figure, or SVG text, on a light card in any colour scheme. `alt` is the caption unless given."""

    figure: Figure | str
    caption: str
    title: str = ""
    alt: str = ""

    def body(self) -> str:
        """Return the image inside the page, as SVG or, for a large drawing, as PNG."""
        kind, content = _image(self.figure)
        source = f"data:image/{kind};base64,{b64encode(content).decode()}"
        alt = escape(self.alt or self.caption)
        # Letters are as large in every figure; on a phone a wide one scrolls in its card rather than shrink.
        inches = self.figure.get_figwidth() if isinstance(self.figure, Figure) else 8
        sizes = f"max-width: {100 * inches:.0f}px; --readable: {75 * inches:.0f}px"
        image = f'<img src="{source}" alt="{alt}" style="{sizes}">'
        caption = f"<figcaption>{escape(self.caption)}</figcaption>"
        return f'<figure><div class="card scroll" tabindex="0">{image}</div>{caption}</figure>'


@dataclass(frozen=True)
class Text:
    """Paragraphs."""

    paragraphs: Sequence[str]
    title: str = ""

    def body(self) -> str:
        """Return one paragraph for each text."""
        return "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in self.paragraphs)


@dataclass(frozen=True)
class KeyValues:
    """Names and values: settings, environment."""

    values: Mapping[str, object]
    title: str = "Settings"

    def body(self) -> str:
        """Return a list of names with their values, in the order given."""
        pairs = (f"<dt>{escape(name)}</dt><dd>{_cell(value)}</dd>" for name, value in self.values.items())
        return f"<dl>{''.join(pairs)}</dl>"


@dataclass(frozen=True)
class Command:
    """What to type to get this report again."""

    text: str
    title: str = "How to rerun"

    def body(self) -> str:
        """Return the command as typed."""
        return f'<pre tabindex="0"><code>{escape(self.text)}</code></pre>'


def badge(verdict: Verdict | None) -> str:
    """Return a verdict as sign and word, so that it can be read without colour."""
    sign, word = _BADGES[verdict]
    sign = f'<span aria-hidden="true">{sign}</span>'
    return f'<span class="badge {word.replace(" ", "-")}">{sign} {word}</span>'


def _claim_row(claim: Claim) -> str:
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
    return f"<tr><td>{badge(claim.verdict)}</td><td>{sentence}</td>{cells}</tr>"


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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None | int() | float():
            return show_number(value)
        case Interval():
            return f'<span class="whole">{show_interval(value)}</span>'
    return escape(str(value))


def _image(figure: Figure | str) -> tuple[str, bytes]:
    """Return the subtype of the image and its bytes."""
    svg = figure.encode() if isinstance(figure, str) else figure_bytes(figure, "svg")
    if isinstance(figure, Figure) and len(svg) > LARGEST_SVG:
        return "png", figure_bytes(figure, "png")
    return "svg+xml", svg
