"""Readings: the numbers of a figure with the places where they stand, for a page that tells them.

Places are shares of the picture's width and height, from its upper left corner, so that they hold at any size.
"""

import math
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FixedFormatter
from numpy import ndarray

from ordinate.lab.evaluation.claims import FEWEST_SEEDS
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.drawing import Drawing, Panel, Series
from ordinate.lab.report.inline import variable
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.style import look_of

MOST_POINTS = 200
"""Most points of a line that can be read; longer lines are thinned evenly."""
MOST_CELLS = 20_000
"""Cells of a matrix above which it has no readings."""


def readings(figure: Figure) -> list[dict[str, Any]]:
    """What can be read off every panel of a figure that has been drawn: lines by x, matrices by cell.

    >>> from ordinate.lab.report.curves import value_curves
    >>> curve = Series("RPE", "positional", [1, 2], [[0.1, 0.2], [0.1, 0.4], [0.1, 0.6]])
    >>> panel = readings(value_curves([Panel("sum", "scale c", "MSE", [curve])]))[0]
    >>> panel["points"][1]["name"], panel["points"][1]["lines"][0]["median"]
    ('2', '0.4 [0.2, 0.6]')
    """
    found = []
    panels = figure.panels if isinstance(figure, Drawing) else {}
    for axes in figure.axes:
        if axes in panels:
            found.append(_lines(axes, panels[axes]))
        found += [_cells(axes, image) for image in axes.images if image.get_size()[0] > 0]
    return [reading for reading in found if reading]


def value(number: float, panel: Panel) -> str:
    """A number of a panel as a person reads it.

    >>> value(0.9875, Panel("t", "x", "exact match", [], percent=True))
    '98.8 %'
    """
    if panel.percent and math.isfinite(number):
        return f"{100 * number:.1f} %"
    return show_number(number)


def _lines(axes: Axes, panel: Panel) -> dict[str, Any]:
    known: dict[float, list[dict[str, Any]]] = {}
    for series in panel.series:
        step = math.ceil(len(series.x) / MOST_POINTS)
        for place in range(0, len(series.x), step):
            known.setdefault(float(series.x[place]), []).append(_line(axes, panel, series, place))
    points: list[dict[str, Any]] = [
        {
            "at": _share(axes, x, 1.0)[0],
            "name": show_number(int(x) if x.is_integer() else x),
            "trained": None if panel.trained_to is None else x <= panel.trained_to,
            "lines": known[x],
        }
        for x in sorted(known)
    ]
    facts = {"title": panel.title, "x": panel.xlabel, "y": panel.ylabel}
    return {"box": _box(axes), **facts, "points": [point for point in points if math.isfinite(point["at"])]}


def _line(axes: Axes, panel: Panel, series: Series, place: int) -> dict[str, Any]:
    """One model at one x: median with its interval over the seeds that ended, every seed, the published value."""
    column, x = series.table[:, place], float(series.x[place])
    good = column[series.finite]
    middle = float(np.median(good)) if len(good) else math.nan
    text = value(middle, panel)
    if len(good) >= FEWEST_SEEDS:
        interval = summarise(good.tolist()).interval
        text += f" [{value(interval.low, panel)}, {value(interval.high, panel)}]"
    seeds = []
    for number, finite in zip(column.tolist(), series.finite.tolist(), strict=True):
        shown = value(number, panel)
        seeds.append(shown if finite else "failed" if not math.isfinite(number) else f"{shown} (failed)")
    facts: dict[str, Any] = {
        "label": series.label,
        "colour": variable(series.colour or look_of(series.role).colour),
        "at": _share(axes, x, middle)[1] if math.isfinite(middle) else None,
        "median": text,
    }
    if len(series.table) > 1:
        facts["seeds"] = seeds
    published = {float(at): float(known) for at, known in series.published.items()}
    if x in published:
        facts["published"] = value(published[x], panel)
    if facts["at"] is not None and not math.isfinite(facts["at"]):
        facts["at"] = None
    return facts


def _cells(axes: Axes, image: AxesImage) -> dict[str, Any]:
    """A matrix drawn as an image: the number of every cell, and what its row and column are called."""
    array = image.get_array()
    if array is None or array.ndim != 2 or array.size > MOST_CELLS:
        return {}
    left, right, low, high = image.get_extent()
    rows, columns = array.shape
    upper = image.origin == "upper"
    first, last = (high, low) if upper else (low, high)
    corners = [_share(axes, left, first), _share(axes, right, last)]
    box = [*map(min, *corners), *map(max, *corners)]
    numbers: Float[ndarray, "row column"] = np.ma.filled(np.ma.asarray(array).astype(float), math.nan)
    flip = corners[0][1] > corners[1][1]
    names = {
        "rows": _names(axes.yaxis.get_major_formatter(), rows, first, last),
        "columns": _names(axes.xaxis.get_major_formatter(), columns, left, right),
    }
    return {
        "box": [round(share, 5) for share in box],
        "title": axes.get_title(loc="left").replace("\n", ", "),
        "x": axes.get_xlabel(),
        "y": axes.get_ylabel() or "row",
        "cells": [[_short(v) for v in row] for row in (numbers[::-1] if flip else numbers).tolist()],
        "columns": names["columns"],
        "rows": names["rows"][::-1] if flip else names["rows"],
    }


def _names(formatter: Any, count: int, first: float, last: float) -> list[str]:
    """The labels of the ticks where every cell has one, and the middles of the cells elsewhere."""
    if isinstance(formatter, FixedFormatter) and len(formatter.seq) == count:
        return [str(label) for label in formatter.seq]
    width = (last - first) / count
    middles = [first + width * (place + 0.5) for place in range(count)]
    return [
        show_number(round(middle) if abs(middle - round(middle)) < 1e-6 else middle) for middle in middles
    ]


def _short(number: float) -> float | None:
    return float(f"{number:.3g}") if math.isfinite(number) else None


def _box(axes: Axes) -> list[float]:
    """Left, top, right and bottom of the axes."""
    frame = axes.get_position()
    return [round(float(share), 5) for share in (frame.x0, 1 - frame.y1, frame.x1, 1 - frame.y0)]


def _share(axes: Axes, x: float, y: float) -> tuple[float, float]:
    """Where a point of the axes stands in the picture; not a number where the axis has no place for it."""
    if (axes.get_xscale() == "log" and x <= 0) or (axes.get_yscale() == "log" and y <= 0):
        return math.nan, math.nan
    assert axes.figure is not None
    across, up = axes.transData.transform((x, y))
    width, height = axes.figure.bbox.width, axes.figure.bbox.height
    return round(float(across / width), 5), round(float(1 - up / height), 5)
