"""Flows of inner products over time, and a test loss that grows with the size of the ring."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator
from numpy import ndarray

from ordinate.lab.report.curves import settle
from ordinate.lab.report.panels import Drawing, Panel, Series
from ordinate.lab.report.style import GREY, OKABE_ITO, paper_style, size


class Flow(NamedTuple):
    """Products by difference over time, twice: what is drawn as lines, and what as marks."""

    times: Float[ndarray, " time"]
    lines: Float[ndarray, "time place"]
    marks: Float[ndarray, "time place"]


ITSELF, SEEN, UNSEEN = OKABE_ITO["black"], OKABE_ITO["blue"], OKABE_ITO["orange"]


def product_flows(
    solvable: Flow,
    windowed: Flow,
    *,
    unseen: Bool[ndarray, " place"],
    growth: Mapping[str, Sequence[Any]],
) -> Figure:
    """Draw products over time for a window of one place and for a larger one, and test losses against n / d.

    >>> products = np.array([[1.0, 0.1, 0.1], [2.0, 0.2, 0.2]])
    >>> flow = Flow(np.array([0.0, 1.0]), products, products)
    >>> growth = {"ratio": [0.1, 1.0], "losses": [[0.4, 0.5], [4.0, 5.0]], "expected": [0.4, 4.0]}
    >>> seen = np.array([False, True, True])
    >>> len(product_flows(flow, flow, unseen=seen, growth=growth).axes)
    3
    """
    with paper_style():
        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08)
        figure = Drawing(figsize=size(12.0, 3.9), layout=layout)
        left, middle, right = figure.subplots(1, 3)
        alone = np.arange(len(unseen)) > 0
        _products(left, solvable, alone, "o")
        left.set_title("window of one place, b = 0")
        _products(middle, windowed, unseen, "x")
        middle.set_title("a larger window")
        _growth(right, growth)
        figure.keep(left, _kept("window of one place", solvable, alone))
        figure.keep(middle, _kept("a larger window", windowed, unseen))
        figure.keep(right, _kept_growth(growth))
        lines = {"$A_0$": ITSELF, "$A_j$, in a window": SEEN, "$A_j$, in no window": UNSEEN}
        marks = [Line2D([], [], color=colour, label=label) for label, colour in lines.items()]
        marks += [
            Line2D([], [], ls="none", marker="o", mfc="none", mec=GREY, label="closed form"),
            Line2D([], [], ls="none", marker="x", color=GREY, label="gradient descent"),
        ]
        figure.legend(handles=marks, loc="outside lower center", ncols=len(marks))
        settle(figure)
    return figure


def _products(axes: Axes, flow: Flow, unseen: Bool[ndarray, " place"], marker: str) -> None:
    times, lines, marks = flow
    for j in reversed(range(_half(flow))):
        colour = _colour(j, unseen)
        axes.plot(times, lines[:, j], color=colour, lw=1.8 if j == 0 else 0.9, alpha=1.0 if j == 0 else 0.7)
        if j % 8 == 0 or j == 1:
            axes.plot(times, marks[:, j], ls="none", marker=marker, ms=4, mfc="none", color=colour, mew=0.9)
    axes.set_xlabel("time of the flow")
    axes.set_ylabel("product $A_j$")


def _half(flow: Flow) -> int:
    """Products that differ: the other half mirrors this one."""
    return int(flow.lines.shape[1]) // 2 + 1


def _colour(j: int, unseen: Bool[ndarray, " place"]) -> str:
    return ITSELF if j == 0 else UNSEEN if unseen[j] else SEEN


def _kept(title: str, flow: Flow, unseen: Bool[ndarray, " place"]) -> Panel:
    series = [
        Series(f"A_{j}", "flow", flow.times.tolist(), flow.lines[:, j][None], colour=_colour(j, unseen))
        for j in range(_half(flow))
    ]
    return Panel(title, "time of the flow", "product A_j", series, trained_to=None)


def _kept_growth(growth: Mapping[str, Sequence[Any]]) -> Panel:
    losses = np.array(growth["losses"], dtype=np.float64).T
    series = [
        Series("descent", "descent", growth["ratio"], losses, colour=UNSEEN),
        Series("expected", "expected", growth["ratio"], [growth["expected"]], colour=ITSELF),
    ]
    return Panel("growth of the test loss", "n / d", "test loss", series, trained_to=None)


def _growth(axes: Axes, growth: Mapping[str, Sequence[Any]]) -> None:
    ratio = np.array(growth["ratio"])
    order = np.argsort(ratio)
    axes.plot(ratio[order], np.array(growth["expected"])[order], color=ITSELF, lw=1.0, ls="--")
    axes.plot(
        ratio, np.array(growth["losses"]), ls="none", marker="o", ms=3.5, mew=0, color=UNSEEN, alpha=0.8
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title("test loss over n / d")
    axes.set_xlabel("n / d")
    axes.set_ylabel("test loss")
