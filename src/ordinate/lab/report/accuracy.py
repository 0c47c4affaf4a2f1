"""Accuracy along an axis: exact match in per cent, lengths on a logarithmic axis."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ordinate.lab.report.curves import doubling, draw_seeds, grid, in_percent, legend, seed_marks, shade
from ordinate.lab.report.drawing import Panel

DECADES = 15
"""Ranges wider than this get a logarithmic axis,"""
MOST_TICKS = 12
"""unless they have more points than can be written side by side."""


def accuracy_curves(panels: Sequence[Panel], *, columns: int = 2) -> Figure:
    """Draw exact match against the axis, one panel a task; wide ranges get a logarithmic axis.

    >>> from ordinate.lab.report.curves import Series
    >>> curve = Series("relation", "first", [5, 100, 1000], [[1.0, 1.0, 0.97], [1.0, 0.99, 0.95]])
    >>> figure = accuracy_curves([Panel("addition", "digits", "exact match", [curve], trained_to=5)])
    >>> figure.axes[0].get_xscale()
    'log'
    """
    panels = [replace(panel, percent=True) for panel in panels]
    figure = grid(panels, columns, _accuracies)
    legend(figure, panels, seed_marks(panels), markers=True)
    return figure


def _accuracies(axes: Axes, panel: Panel) -> None:
    draw_seeds(axes, panel)
    ticks = sorted({float(p) for series in panel.series for p in series.x})
    in_percent(axes, panel)
    if ticks[-1] > DECADES * max(ticks[0], 1e-9) and len(ticks) <= MOST_TICKS:
        doubling(axes, ticks)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    left, right = axes.get_xlim()
    if panel.trained_to is not None and panel.trained_to >= ticks[0]:
        beyond = [t for t in ticks if t > panel.trained_to]
        end = float(np.sqrt(panel.trained_to * beyond[0])) if beyond else right
        shade(axes, left, end, "in training")
    if panel.reach is not None and panel.reach < right:
        shade(axes, panel.reach + 0.5, right, "out of reach")
    axes.set_xlim(left, right)
