"""A report: one HTML file that opens from disk, asks nothing of the network and can be printed.

>>> page = render(Report("Value scale", "Five tasks, five seeds.", [Text(["All seeds finished."])]))
>>> page.startswith("<!doctype html>"), "All seeds finished." in page
(True, True)
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ordinate.lab.evaluation.claims import FEWEST_SEEDS, Claim, Verdict
from ordinate.lab.evaluation.statistics import coverage_ceiling
from ordinate.lab.report.drawing import save_figure
from ordinate.lab.report.inline import palette, share_shapes
from ordinate.lab.report.numbers import show_interval, show_number
from ordinate.lab.report.sections import Command, FigureSection, Group, KeyValues, Section, Table, Text
from ordinate.lab.report.style import COLUMN, drawn_for
from ordinate.lab.report.tables import Frame, file_name, verdicts_frame
from ordinate.lab.runs import write_text

__all__ = [
    "Command",
    "FigureSection",
    "Group",
    "KeyValues",
    "Report",
    "Section",
    "Table",
    "Text",
    "VerdictTable",
    "render",
    "write_figures",
    "write_report",
]


_FOLDER = Path(__file__).parent
CSS = (_FOLDER / "report.css").read_text(encoding="utf-8") + (
    f":root {{ {palette(dark=False)} }}\n"
    f"@media (prefers-color-scheme: dark) {{ :root {{ {palette(dark=True)} }} }}\n"
    f"@media print {{ :root {{ {palette(dark=False)} }} }}\n"
)
SCRIPT = (_FOLDER / "report.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Report:
    """A title, one sentence or two on what this is, and the sections in reading order, verdicts first.

    `data` are tables that are too long for a page and go with it as files.
    """

    title: str
    lead: str
    sections: Sequence[Section]
    data: Sequence[Frame] = ()

    def figures(self) -> list[FigureSection]:
        """Every figure, those of groups included."""
        return [section for section in _inside(self.sections) if isinstance(section, FigureSection)]

    def frames(self) -> list[Frame]:
        """Every table, verdicts and the values of figures included."""
        tables = (
            section.frames()
            for section in _inside(self.sections)
            if isinstance(section, VerdictTable | Table | FigureSection)
        )
        return [*self.data, *(frame for frames in tables for frame in frames)]


def render(report: Report) -> str:
    """Return the page. Tables of verdicts come before all other sections, which keep their order."""
    ordered = sorted(report.sections, key=lambda section: not isinstance(section, VerdictTable))
    sections = share_shapes("\n".join(map(_section, ordered)))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(report.title)}</title>
<style>{CSS}</style>
</head>
<body>
<header>
<h1>{escape(report.title)}</h1>
<p class="lead">{escape(report.lead)}</p>
</header>
<main>
{sections}
</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


def write_report(report: Report, path: str | Path) -> Path:
    """Write the page to `path` and return it; a reader never meets half a report."""
    path = Path(path)
    write_text(path, render(report))
    return path


def write_figures(build: Callable[[], Report], folder: Path) -> list[Path]:
    """Draw the figures of a report again, as large as they stand in a paper, and write each as PDF and SVG."""
    with drawn_for(COLUMN):
        sections = build().figures()
        return [
            path
            for section in sections
            for path in save_figure(section.figure, folder / file_name(section.name), ("pdf", "svg"))
        ]


def _inside(sections: Sequence[Section]) -> Iterator[Section]:
    """Sections, and those of groups."""
    for section in sections:
        yield section
        if isinstance(section, Group):
            yield from _inside(section.sections)


def _section(section: Section) -> str:
    heading = f"<h2>{escape(section.title)}</h2>\n" if section.title else ""
    group = f' class="group" id="{section.anchor}"' if isinstance(section, Group) else ""
    return f"<section{group}>\n{heading}{section.body()}\n</section>"


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
