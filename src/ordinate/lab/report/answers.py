"""The answer of one sample, place by place: the input above it, carries, what the model said and what is right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ordinate.lab.explain.explanation import Explanation, Output
from ordinate.lab.report.explanation import write_value
from ordinate.lab.report.style import GREY, OKABE_ITO, RIGHT, WRONG, paper_style

PLACES = 30
"""Most places in one band; longer answers go on in the next."""
BESIDE = frozenset({"text", "dummy", "sign", "equals"})
"""Fields that have no places in common with the answer."""


@dataclass(frozen=True)
class Row:
    """A line of the picture: a text at some places, and a colour behind some."""

    name: str
    texts: dict[int, str]
    colours: dict[int, str]
    bold: bool = False


def answer_places(explanation: Explanation) -> Figure:
    """Draw a column for every place: the input, carries, the answer (green if right, red if wrong), the right one."""
    places, rows = _places(explanation), _rows(explanation)
    each = math.ceil(len(places) / math.ceil(len(places) / PLACES))
    bands = [places[first : first + each] for first in range(0, len(places), each)]
    cells = max(len(text) for row in rows for text in row.texts.values())
    width = 0.16 + 0.085 * max(2, cells)
    names = 0.2 + 0.085 * max(len(row.name) for row in rows)
    with paper_style():
        height = 0.24 * (len(rows) + 1) + 0.12
        figure = Figure(figsize=(names + width * len(bands[0]) + 0.15, height * len(bands)))
        for number, band in enumerate(bands):
            box = (0.0, 1 - (number + 1) / len(bands), 1.0, 1 / len(bands))
            axes = figure.add_axes(box)
            axes.set_axis_off()
            axes.set_xlim(-names / width, len(bands[0]) + 0.15 / width)
            axes.set_ylim(len(rows) + 0.9, -0.1)
            _band(axes, band, rows, explanation)
    return figure


def _band(axes: Axes, band: Sequence[int], rows: Sequence[Row], explanation: Explanation) -> None:
    for x, place in enumerate(band):
        axes.text(x + 0.5, 0.4, str(place), ha="center", va="center", fontsize=7, color=GREY)
    axes.text(-0.2, 0.4, "place", ha="right", va="center", fontsize=7, color=GREY)
    for y, row in enumerate(rows, start=1):
        axes.text(-0.2, y + 0.4, row.name, ha="right", va="center", fontsize=8)
        for x, place in enumerate(band):
            if place in row.colours:
                axes.add_patch(Rectangle((x + 0.03, y - 0.07), 0.94, 0.94, color=row.colours[place], lw=0))
            if place in row.texts:
                weight = "bold" if row.bold else "normal"
                axes.text(
                    x + 0.5,
                    y + 0.4,
                    row.texts[place],
                    ha="center",
                    va="center",
                    fontsize=8.5,
                    fontweight=weight,
                )
    if explanation.carries is not None:
        _cascades(axes, band, [row.name for row in rows].index("carry in") + 1, explanation)


def _cascades(axes: Axes, band: Sequence[int], y: int, explanation: Explanation) -> None:
    """A line under the carries that one cascade handed on."""
    assert explanation.carries is not None
    column = {place: x for x, place in enumerate(band)}
    for first, last in explanation.carries.cascades:
        inside = [column[place] for place in range(first + 1, last + 2) if place in column]
        if inside:
            axes.plot(
                [min(inside) + 0.15, max(inside) + 0.85], [y + 0.86] * 2, color=OKABE_ITO["orange"], lw=2
            )


def _places(explanation: Explanation) -> list[int]:
    """All ordinates of the sample, in the order in which the answer is written."""
    tokens = [token for token in explanation.tokens if token.field not in BESIDE]
    written = [explanation.tokens[output.token].ordinate for output in explanation.outputs]
    places = sorted({token.ordinate for token in tokens} | set(written))
    return places[::-1] if any(one > other for one, other in pairwise(written)) else places


def _rows(explanation: Explanation) -> list[Row]:
    fields: dict[str, dict[int, str]] = {}
    for token in explanation.tokens:
        if token.field not in BESIDE and token.symbol:
            fields.setdefault(token.field, {})[token.ordinate] = write_value(token.symbol)
    rows = [Row(name, texts, {}) for name, texts in fields.items()]
    if explanation.carries is not None:
        rows.append(Row("carry in", {p: str(c) for p, c in enumerate(explanation.carries.into) if c}, {}))
    groups: dict[tuple[str, int], dict[int, Output]] = {}
    for output in explanation.outputs:
        token = explanation.tokens[output.token]
        groups.setdefault((token.field, output.column), {})[token.ordinate] = output
    several_fields, several_columns = (len({key[i] for key in groups}) > 1 for i in range(2))
    for (field, column), outputs in groups.items():
        suffix = f" {field}" * several_fields + f" {column}" * several_columns
        colours = {place: RIGHT if output.correct else WRONG for place, output in outputs.items()}
        answers = {place: write_value(output.answer) for place, output in outputs.items()}
        rows.append(Row(f"answer{suffix}", answers, colours, bold=True))
        rows.append(Row(f"right{suffix}", {p: write_value(o.right) for p, o in outputs.items()}, {}))
        sure = {p: f"{o.probability:.2f}" for p, o in outputs.items() if o.probability is not None}
        if sure:
            rows.append(Row(f"probability{suffix}", sure, {}))
    return rows
