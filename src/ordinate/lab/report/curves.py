"""Curves over seeds: errors along an axis, and losses along training.

A seed with a value that is not finite has failed: it is left out of median and band, its finite values stay
visible as crosses, and the panel says how many failed.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullLocator,
    PercentFormatter,
)

from ordinate.lab.report.drawing import Drawing, Panel, Series
from ordinate.lab.report.numbers import show_number, show_power
from ordinate.lab.report.style import (
    GREY,
    INK,
    PAPER,
    Look,
    look_of,
    paper_style,
    points,
    remark,
    size,
    thinned,
)

__all__ = [
    "Panel",
    "Series",
    "doubling",
    "draw_losses",
    "draw_seeds",
    "grid",
    "in_percent",
    "legend",
    "logarithmic",
    "seed_marks",
    "settle",
    "shade",
    "training_curves",
    "value_curves",
]


def value_curves(
    panels: Sequence[Panel], *, columns: int = 3, beside: Sequence[Callable[[Axes], None]] = ()
) -> Figure:
    """Draw error against the axis, one panel a task, on a logarithmic error axis; shares in per cent.

    A line joins the medians over seeds, the band reaches from the 10th to the 90th percentile, faint dots are
    the seeds, hollow markers the published medians; the range seen in training is shaded. Each of `beside` draws one
    more panel, after the others.

    >>> curve = Series("positional", "positional", [1, 2, 3], [[0.1, 0.2, 0.4], [0.1, 0.3, 0.5]])
    >>> figure = value_curves([Panel("cumulative sum", "scale c", "MSE", [curve])])
    >>> len(figure.axes)
    1
    """
    figure = grid(panels, columns, _values, beside)
    known = Line2D([], [], label="published median", **_hollow(Look(GREY, "o", "-")))  # type: ignore[arg-type]
    published = any(s.published for panel in panels for s in panel.series)
    legend(figure, panels, [*seed_marks(panels), *([known] if published else [])], markers=True)
    return figure


def seed_marks(panels: Sequence[Panel]) -> list[Line2D | Patch]:
    """What a legend says of the marks of `draw_seeds`; nothing where no model has several seeds."""
    if all(len(series.table) == 1 for panel in panels for series in panel.series):
        return []
    band = Patch(color=GREY, alpha=0.25, lw=0, label="10-90 % of seeds")
    seed = Line2D([], [], ls="none", marker=".", ms=6, mew=0, alpha=0.5, color=GREY, label="one seed")
    return [band, seed]


def training_curves(panels: Sequence[Panel], *, columns: int = 3, log_x: bool = False) -> Figure:
    """Draw loss against step, one thin line a seed and a thick one for the median, both axes as told.

    A seed that failed ends in a cross at its last finite loss. `trained_to` and `published` are not drawn.

    >>> loss = Series("positional", "positional", [1, 10, 100], [[1.0, 0.1, 0.01], [1.0, 0.2, float("nan")]])
    >>> figure = training_curves([Panel("cumulative sum", "step", "training loss", [loss])], log_x=True)
    >>> figure.axes[0].get_xscale()
    'log'
    """

    def draw(axes: Axes, panel: Panel) -> None:
        draw_losses(axes, panel)
        if log_x:
            axes.set_xscale("log")
        else:
            axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))

    panels = [replace(panel, trained_to=None) for panel in panels]
    figure = grid(panels, columns, draw)
    seed = Line2D([], [], color=GREY, lw=0.7, alpha=0.6, label="one seed")
    several = any(len(series.table) > 1 for panel in panels for series in panel.series)
    legend(figure, panels, [seed] if several else [], markers=False)
    return figure


def grid(
    panels: Sequence[Panel],
    columns: int,
    draw: Callable[[Axes, Panel], None],
    beside: Sequence[Callable[[Axes], None]] = (),
) -> Drawing:
    """Lay the panels out row by row, draw each, and keep it with the figure; last what is beside them."""
    if not panels:
        raise ValueError("a figure needs at least one panel")
    count = len(panels) + len(beside)
    columns = min(columns, count)
    rows = math.ceil(count / columns)
    with paper_style():
        width = 5.4 if columns == 1 else 3.7 * columns + 0.3
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
        figure = Drawing(figsize=size(width, 3.3 * rows + 0.6), layout=layout)
        for number, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(rows, columns, number)
            draw(axes, panel)
            figure.keep(axes, panel)
            _label(axes, panel)
        for number, more in enumerate(beside, start=len(panels) + 1):
            more(figure.add_subplot(rows, columns, number))
    return figure


def _values(axes: Axes, panel: Panel) -> None:
    """Draw one panel of `value_curves`."""
    draw_seeds(axes, panel)
    (in_percent if panel.percent else logarithmic)(axes, panel)
    ticks = sorted({float(p) for series in panel.series for p in series.x})
    if ticks and panel.log_x:
        doubling(axes, ticks)
    elif ticks:
        if len(ticks) <= 12:
            axes.xaxis.set_major_locator(FixedLocator(ticks))
        _shade_trained(axes, panel.trained_to, ticks)


def draw_seeds(axes: Axes, panel: Panel) -> None:
    """Draw median, band and single seeds of every series, and the published values."""
    for series in panel.series:
        look = look_of(series.role)
        x = np.asarray(series.x, dtype=np.float64)
        good, bad = series.table[series.finite], series.table[~series.finite]
        if len(good):
            low, median, high = np.quantile(good, [0.1, 0.5, 0.9], axis=0)
            axes.fill_between(x, low, high, color=look.colour, alpha=0.18, lw=0)
            axes.plot(x, median, look.line, color=look.colour, marker=look.marker, zorder=3)
            axes.plot(x, good.T, ".", color=look.colour, alpha=0.6, ms=points(6), mew=0, zorder=2)
        if len(bad):
            axes.plot(x, np.where(np.isfinite(bad), bad, np.nan).T, "x", color=look.colour, alpha=0.6, ms=4)
        if series.published:
            at = list(series.published)
            axes.plot(at, [series.published[p] for p in at], **_hollow(look))  # type: ignore[index, arg-type]


def _shade_trained(axes: Axes, trained_to: float | int | None, ticks: list[float]) -> None:
    """Shade the trained range, halfway to the next point, and name it in the shade."""
    margin = float(np.diff(ticks).min()) / 2 if len(ticks) > 1 else 0.5
    left, end = ticks[0] - margin, ticks[-1] + margin
    axes.set_xlim(left, end)
    if trained_to is None or trained_to < ticks[0]:
        return
    beyond = [t for t in ticks if t > trained_to]
    right = (trained_to + beyond[0]) / 2 if beyond else end
    shade(axes, left, right, "in distribution")


HEIGHTS = (0.5, *(0.5 + sign * step / 40 for step in range(1, 13) for sign in (1, -1)))
"""Where the name of a shaded range may stand, the best ones first."""
ROOM = 0.2
"""The share of the height that a name takes on each side of its middle."""


def shade(axes: Axes, left: float, right: float, name: str, *, at: float | None = None) -> None:
    """Shade a range of x and name it there, at a share of the height or where there is room.

    A name without room stands over the curves, on a ground that they shine through.
    """
    free, room = _free_height(axes, left, right)
    ground = {"facecolor": PAPER, "alpha": 0.8, "edgecolor": "none", "pad": 1}
    axes.axvspan(left, right, color=INK, alpha=0.07, lw=0, zorder=0)
    axes.text(
        float(np.sqrt(left * right)) if axes.get_xscale() == "log" else (left + right) / 2,
        free if at is None else at,
        name,
        transform=axes.get_xaxis_transform(),
        rotation=90,
        ha="center",
        va="center",
        fontsize=points(8),
        color=GREY,
        bbox=ground if at is None and room < ROOM else None,
        zorder=5,
    )


def _free_height(axes: Axes, left: float, right: float) -> tuple[float, float]:
    """The height that is furthest from every curve over a range of x, the middle among equals, and how far that is."""
    share = axes.transData - axes.transAxes
    top = axes.get_ylim()[1]  # asks for the limits too, which until then may not be those of what was drawn
    (start, _), (end, _) = share.transform([(left, top), (right, top)])
    there: list[float] = []
    for line in axes.lines:
        x, y = share.transform(np.asarray(line.get_xydata(), dtype=np.float64)).T
        x, y = x[np.isfinite(y)], y[np.isfinite(y)]
        there.extend(y[(start <= x) & (x <= end)])
        if line.get_linestyle() != "None" and len(x) and x[0] <= (start + end) / 2 <= x[-1]:
            there.append(float(np.interp((start + end) / 2, x, y)))
    room = [min((abs(height - value) for value in there), default=1.0) for height in HEIGHTS]
    best = int(np.argmax(np.round(room, 3)))
    return HEIGHTS[best], room[best]


def draw_losses(axes: Axes, panel: Panel) -> None:
    """Draw every seed thin and the median thick, on a logarithmic axis of losses."""
    for series in panel.series:
        look = look_of(series.role)
        x = np.asarray(series.x, dtype=np.float64)
        losses = np.where(np.isfinite(series.table), series.table, np.nan)
        axes.plot(x, losses.T, lw=0.7, alpha=0.35, color=look.colour)
        good = series.table[series.finite]
        if len(good):
            axes.plot(x, np.median(good, axis=0), look.line, color=look.colour, zorder=3)
        for row in series.table[~series.finite]:
            last = np.flatnonzero(np.isfinite(row))[-1:]
            axes.plot(x[last], row[last], "x", color=look.colour, ms=7, mew=1.8, zorder=4)
    logarithmic(axes, panel)


def logarithmic(axes: Axes, panel: Panel) -> None:
    """Give the values a logarithmic axis with a tick for every decade or few."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=8))
    axes.yaxis.set_minor_locator(NullLocator())
    shown = [s.table[np.isfinite(s.table) & (s.table > 0)] for s in panel.series]
    if any(len(values) for values in shown):
        values = np.concatenate(shown)
        span = values.max() / values.min()
        if span < 100:  # there may be one power of ten or none
            few = MaxNLocator(5, steps=[1, 2, 5, 10]) if span < 3 else LogLocator(subs=(1, 2, 5), numticks=8)
            axes.yaxis.set_major_locator(few)
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: show_power(y)))
    if not any((np.isfinite(s.table) & (s.table > 0)).any() for s in panel.series):
        # A logarithmic axis cannot find its own limits without a number above 0.
        axes.set_ylim(0.1, 10)
        axes.text(0.5, 0.5, "nothing to show", transform=axes.transAxes, ha="center", color=GREY)


def in_percent(axes: Axes, panel: Panel) -> None:
    """Give the values an axis from 0 to 100 %."""
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def doubling(axes: Axes, ticks: Sequence[float]) -> None:
    """Give x a logarithmic axis with these ticks, written in full."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(thinned(ticks)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: show_number(int(x) if x == int(x) else x)))


def _label(axes: Axes, panel: Panel) -> None:
    """Add title, labels and failed seeds."""
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel)
    failures = [f"{s.label}: {s.failed} of {len(s.table)} seeds failed" for s in panel.series if s.failed]
    axes.set_title(panel.title, pad=points(6 + 11 * len(failures)))
    if failures:
        remark(axes, "\n".join(failures), above=3)


def _hollow(look: Look) -> dict[str, object]:
    line = {"ls": "none", "marker": look.marker, "ms": points(8), "zorder": 4}
    return line | {"mfc": "none", "mec": look.colour, "mew": points(1.4)}


def legend(figure: Figure, panels: Sequence[Panel], keys: Sequence[Line2D | Patch], *, markers: bool) -> None:
    """Put one legend under all panels: each model once, then the other marks."""
    every = [series for panel in panels for series in panel.series]
    models: dict[str, Line2D] = {}
    for series in every:
        look = look_of(series.role)
        with paper_style():
            label = series.label if len(series.table) == 1 else f"{series.label} (median)"
            line = Line2D([], [], ls=look.line, color=look.colour, label=label)
        line.set_marker(look.marker if markers else "")
        models.setdefault(series.label, line)
    handles = [*models.values(), *keys]
    if any(series.failed for series in every):
        handles.append(Line2D([], [], ls="none", marker="x", color=GREY, label="failed seed"))
    longest = max(len(str(handle.get_label())) for handle in handles)
    inches = points(max(2.2, 0.6 + 0.068 * longest))
    rows = math.ceil(len(handles) / max(1, figure.get_figwidth() // inches))
    with paper_style():
        figure.legend(handles=handles, loc="outside lower center", ncols=math.ceil(len(handles) / rows))
        settle(figure)


def settle(figure: Figure) -> None:
    """Lay the figure out once and for all: the engine would move things by a hair at every drawing."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
