"""A report: one HTML file that opens from disk, asks nothing of the network and can be printed.

>>> page = render(Report("Value scale", "Five tasks, five seeds.", [Text(["All seeds finished."])]))
>>> page.startswith("<!doctype html>"), "All seeds finished." in page
(True, True)
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ordinate.lab.report.frames import Frame, file_name
from ordinate.lab.report.inline import share_shapes
from ordinate.lab.report.save import save_figure
from ordinate.lab.report.script import SCRIPT
from ordinate.lab.report.sections import Command, FigureSection, Group, KeyValues, Section, Table, Text
from ordinate.lab.report.style import COLUMN, drawn_for
from ordinate.lab.report.stylesheet import CSS
from ordinate.lab.report.verdicts import VerdictTable
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
        told = (
            section.frames()
            for section in _inside(self.sections)
            if isinstance(section, VerdictTable | Table | FigureSection)
        )
        return [*self.data, *(frame for frames in told for frame in frames)]


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
