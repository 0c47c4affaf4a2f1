"""Depth of compiled programs over the number of processors, beside what the theorem allows."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator, ScalarFormatter

from ordinate.lab.report.curves import settle
from ordinate.lab.report.panels import Drawing, Panel, Series
from ordinate.lab.report.style import GREY, OKABE_ITO, paper_style, points, size

COLOURS = [OKABE_ITO[name] for name in ("blue", "vermilion", "green", "purple", "orange", "sky", "black")]
MARKERS = "os^DvPX"

Rows = Sequence[Mapping[str, Any]]


def depth_curves(panels: Mapping[str, Mapping[str, Rows]]) -> Figure:
    """Draw layers over n on a logarithmic axis of n, one column a panel.

    Above, the layers alone, where a logarithm is a straight line; below, on a logarithmic axis, with the bound of each
    program dotted in the same colour. Rows have `n`, `layers` and `layer_bound`, in the order of n.

    >>> rows = [{"n": 8, "layers": 3, "layer_bound": 18}, {"n": 16, "layers": 4, "layer_bound": 32}]
    >>> figure = depth_curves({"scans": {"prefix-sum": rows}})
    >>> [len(axes.lines) for axes in figure.axes]
    [1, 2]
    """
    with paper_style():
        layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
        figure = Drawing(figsize=size(4.6 * len(panels) + 0.4, 7.6), layout=layout)
        for number, (title, programs) in enumerate(panels.items(), start=1):
            above = figure.add_subplot(2, len(panels), number)
            _panel(above, title, programs, bounds=False)
            figure.keep(above, _kept(title, programs, bounds=False))
            below = figure.add_subplot(2, len(panels), len(panels) + number)
            _panel(below, "beside the theorem's bound", programs, bounds=True)
            figure.keep(below, _kept(f"{title}, bounds", programs, bounds=True))
        settle(figure)
    return figure


def _kept(title: str, programs: Mapping[str, Rows], *, bounds: bool) -> Panel:
    """The layers of a panel as numbers, or the bounds on them."""
    series = [
        Series(
            name,
            name,
            [row["n"] for row in rows],
            [[row["layer_bound" if bounds else "layers"] for row in rows]],
            colour=COLOURS[place % len(COLOURS)],
        )
        for place, (name, rows) in enumerate(programs.items())
    ]
    measure = "layers that the theorem allows" if bounds else "layers"
    return Panel(title, "processors n", measure, series, trained_to=None)


def _panel(axes: Axes, title: str, programs: Mapping[str, Rows], *, bounds: bool) -> None:
    sizes: set[int] = set()
    for place, (name, rows) in enumerate(programs.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        n = [row["n"] for row in rows]
        sizes |= set(n)
        axes.plot(n, [row["layers"] for row in rows], color=colour, marker=marker, label=name)
        if bounds:
            axes.plot(n, [row["layer_bound"] for row in rows], ":", color=colour, lw=1.2)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log" if bounds else "linear")
    axes.xaxis.set_major_locator(FixedLocator(sorted(sizes)))
    axes.xaxis.set_minor_locator(NullLocator())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ScalarFormatter())
    axes.tick_params(axis="x", labelrotation=90)
    axes.set_xlabel("processors n")
    axes.set_ylabel("layers")
    axes.set_title(title)
    if bounds:
        bound = Line2D([], [], ls=":", color=GREY, label=r"theorem: $2R\lceil\log_2 n\rceil$")
        axes.legend(handles=[bound], fontsize=points(8), loc="upper left")
    else:
        axes.legend(fontsize=points(8), loc="upper left")
