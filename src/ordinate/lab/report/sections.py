"""The parts a report is made of. Each turns itself into HTML; all text of the caller is escaped."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Protocol, runtime_checkable

from matplotlib.figure import Figure

from ordinate.lab.evaluation.statistics import Interval
from ordinate.lab.report.drawing import Drawing, figure_bytes, write_images
from ordinate.lab.report.inline import inline_svg
from ordinate.lab.report.numbers import show_interval, show_number
from ordinate.lab.report.readings import readings
from ordinate.lab.report.tables import Frame, file_name, is_number, unique, values_frame
from ordinate.lab.runs.plain import to_json

TALL = 20
"""Rows above which a table scrolls in a box of its own; on paper it is whole."""

LARGEST_SVG = 600_000
"""Bytes above which a drawing goes into the report as PNG, counted as it would stand there."""


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
class Table:
    """Rows of anything: numbers and intervals are rounded to three figures, numbers are set to the right.

    >>> "<td class=\\"number\\">0.0585</td>" in Table(["task", "MSE"], [["sum", 0.05849]]).body()
    True
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""
    title: str = ""
    name: str = "table"

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.headers):
                raise ValueError(f"{len(self.headers)} headers but a row of {len(row)} cells: {list(row)}")

    def body(self) -> str:
        """Return the table, in a box that scrolls sideways if need be."""
        numeric = [
            bool(self.rows) and all(row[i] is None or is_number(row[i]) for row in self.rows)
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
        tall = " tall" if len(self.rows) > TALL else ""
        return f'<div class="scroll{tall}" tabindex="0">{table}</div>'

    def frames(self) -> list[Frame]:
        """The rows as they are shown, an interval as three columns."""
        if not self.rows:
            return []
        spread = [any(isinstance(row[i], Interval) for row in self.rows) for i in range(len(self.headers))]
        names: list[str] = []
        for name, wide in zip(unique(self.headers), spread, strict=True):
            names += [name, f"{name}, low", f"{name}, high"] if wide else [name]
        rows = [
            [cell for value, wide in zip(row, spread, strict=True) for cell in _spread(value, wide)]
            for row in self.rows
        ]
        return [Frame(self.name, names, rows, self.caption)]


@dataclass(frozen=True)
class FigureSection:
    """A figure that tells its numbers. `alt` is the caption unless given; `name` is what its files are called by."""

    figure: Figure
    caption: str
    title: str = ""
    alt: str = ""
    name: str = "figure"

    @cached_property
    def svg(self) -> bytes:
        """The drawing as an SVG."""
        return figure_bytes(self.figure, "svg")

    @cached_property
    def png(self) -> bytes:
        """The drawing as a PNG."""
        return figure_bytes(self.figure, "png")

    def save(self, path: Path) -> list[Path]:
        """Write `path`.png and `path`.svg, which the page shows as well: each is drawn once."""
        return write_images({"png": self.png, "svg": self.svg}, path)

    def body(self) -> str:
        """Return the drawing as part of the page, a large one as PNG, and its readings as data."""
        alt = escape(self.alt or self.caption)
        image = inline_svg(self.svg.decode(), alt)
        if len(image) > LARGEST_SVG:
            picture = b64encode(self.png).decode()
            image = f'<img src="data:image/png;base64,{picture}" alt="{alt}">'
        # Letters are as large in every figure; on a phone it is whole, and scrolls in its plate when it is enlarged.
        inches = self.figure.get_figwidth()
        sizes = f"max-width: {100 * inches:.0f}px; --readable: {75 * inches:.0f}px"
        drawing = f'<div class="drawing" style="{sizes}">{image}</div>'
        plate = f'<div class="plate scroll" tabindex="0" role="group">{drawing}</div>'
        data = to_json(readings(self.figure)).replace("<", "\\u003c")
        script = f'<script type="application/json">{data}</script>'
        return f"<figure>{plate}<figcaption>{escape(self.caption)}</figcaption>{script}</figure>"

    def frames(self) -> list[Frame]:
        """Every value that the figure shows."""
        if not isinstance(self.figure, Drawing) or not self.figure.panels:
            return []
        return [values_frame(f"{self.name}-values", self.figure, self.name)]


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


@dataclass(frozen=True)
class Group:
    """Sections that belong together under one heading, such as a figure of a paper; `name` is its address."""

    title: str
    name: str
    lead: str
    sections: Sequence[Section]

    def body(self) -> str:
        """Return the lead and the sections with their headings one level down."""
        parts = [f'<p class="name">{escape(self.name)}</p>', f"<p>{escape(self.lead)}</p>"]
        for section in self.sections:
            heading = f"<h3>{escape(section.title)}</h3>\n" if section.title else ""
            parts.append(f"<section>\n{heading}{section.body()}\n</section>")
        return "\n".join(parts)

    @property
    def anchor(self) -> str:
        """Where links to the group lead."""
        return file_name(self.name)


def _spread(value: object, wide: bool) -> list[object]:
    """A cell as plain values; one of a column with intervals as estimate, low and high."""
    if isinstance(value, Interval):
        return [value.estimate, value.low, value.high]
    return [value, None, None] if wide else [value]


def _cell(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None | int() | float():
            return show_number(value)
        case Interval():
            return f'<span class="whole">{show_interval(value)}</span>'
    return escape(str(value))
