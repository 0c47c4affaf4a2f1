"""Accuracy along an axis: exact match in per cent, lengths on a logarithmic axis."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator, PercentFormatter

from ordinate.figures.curves import _GREY, Panel, draw_seeds, grid, legend
from ordinate.figures.numbers import show_number


def accuracy_curves(panels: Sequence[Panel], *, columns: int = 2) -> Figure:
    """Draw exact match against the axis, one panel a task; panels that span more than a decade get a logarithmic axis.

    >>> from ordinate.figures.curves import Series
    >>> curve = Series("relation", "first", [5, 100, 1000], [[1.0, 1.0, 0.97], [1.0, 0.99, 0.95]])
    >>> figure = accuracy_curves([Panel("addition", "digits", "exact match", [curve], trained_to=5)])
    >>> figure.axes[0].get_xscale()
    'log'
    """
    figure = grid(panels, columns, _accuracies)
    several = any(len(series.table) > 1 for panel in panels for series in panel.series)
    band = Patch(color=_GREY, alpha=0.25, lw=0, label="10-90 % of seeds")
    seed = Line2D([], [], ls="none", marker=".", ms=6, mew=0, alpha=0.5, color=_GREY, label="one seed")
    legend(figure, panels, [band, seed] if several else [], markers=True)
    return figure


def _accuracies(axes: Axes, panel: Panel) -> None:
    draw_seeds(axes, panel)
    ticks = sorted({float(p) for series in panel.series for p in series.x})
    axes.set_ylim(-0.03, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if ticks[-1] > 10 * max(ticks[0], 1e-9):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: show_number(int(x))))
    _shade(axes, panel.trained_to, ticks)


def _shade(axes: Axes, trained_to: float | int | None, ticks: list[float]) -> None:
    """Shade what was trained."""
    left, right = axes.get_xlim()
    if trained_to is None or trained_to < ticks[0]:
        return
    beyond = [t for t in ticks if t > trained_to]
    end = float(np.sqrt(trained_to * beyond[0])) if beyond else right
    axes.axvspan(left, end, color="#000000", alpha=0.07, lw=0, zorder=0)
    axes.set_xlim(left, right)
