"""A report: one HTML file that opens from disk, asks nothing of the network and can be printed.

>>> page = render(Report("Value scale", "Five tasks, five seeds.", [Text(["All seeds finished."])]))
>>> page.startswith("<!doctype html>"), "All seeds finished." in page
(True, True)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from ordinate.figures.sections import Command, FigureSection, KeyValues, Section, Table, Text, VerdictTable
from ordinate.figures.stylesheet import CSS
from ordinate.runs import write_text

__all__ = [
    "Command",
    "FigureSection",
    "KeyValues",
    "Report",
    "Section",
    "Table",
    "Text",
    "VerdictTable",
    "render",
    "write_report",
]


@dataclass(frozen=True)
class Report:
    """A title, one sentence or two on what this is, and the sections in reading order, verdicts first."""

    title: str
    lead: str
    sections: Sequence[Section]


def render(report: Report) -> str:
    """Return the page. Tables of verdicts come before all other sections, which keep their order."""
    ordered = sorted(report.sections, key=lambda section: not isinstance(section, VerdictTable))
    sections = "\n".join(map(_section, ordered))
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
</body>
</html>
"""


def write_report(report: Report, path: str | Path) -> Path:
    """Write the page to `path` and return it; a reader never meets half a report."""
    path = Path(path)
    write_text(path, render(report))
    return path


def _section(section: Section) -> str:
    heading = f"<h2>{escape(section.title)}</h2>\n" if section.title else ""
    return f"<section>\n{heading}{section.body()}\n</section>"
