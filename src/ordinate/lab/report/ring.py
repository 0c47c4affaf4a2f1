"""The ring: losses, products of embeddings, and how they flow in training."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy import ndarray

from ordinate.lab.report.curves import draw_losses, grid, legend, logarithmic, settle, shade
from ordinate.lab.report.drawing import Drawing, Panel, Series
from ordinate.lab.report.style import GREY, INK, OKABE_ITO, look_of, paper_style, points, size


def ring_losses(
    train: Panel, test: Panel, *, level: float, level_name: str, expected: Sequence[float]
) -> Figure:
    """Draw training losses by step beside test losses by place, where `test.trained_to` places were filled.

    `level` is a loss that is known; `expected` are the losses that expected gradients lead to, by place.

    >>> from ordinate.lab.report.curves import Series
    >>> loss = Series("RPE", "positional", [1, 10, 100], [[1.0, 0.1, 0.01]])
    >>> place = Series("RPE", "positional", [1, 2, 3], [[0.01, 0.01, 0.02]])
    >>> panels = Panel("training", "step", "loss", [loss]), Panel("test", "place", "loss", [place], trained_to=2)
    >>> len(ring_losses(*panels, level=4.5, level_name="nothing", expected=[0.1, 0.1, 0.1]).axes)
    2
    """

    def draw(axes: Axes, panel: Panel) -> None:
        draw_losses(axes, panel)
        if panel is train:
            axes.set_xscale("log")
            return
        axes.axhline(level, color=INK, lw=0.9, ls=(0, (1, 2)), zorder=1)
        axes.plot(panel.series[0].x, expected, color=INK, lw=1.0, ls="--", zorder=4)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        _shade_filled(axes, panel)
        logarithmic(axes, panel)
        low, high = axes.get_ylim()
        axes.set_ylim(low, max(high, 4 * level))

    figure = grid([train, test], 2, draw)
    places = test.series[0].x
    known = [
        Series("shifts, expected gradients", "baseline", places, [list(expected)], colour=INK),
        Series(level_name, "baseline", places, [[level] * len(places)], colour=INK),
    ]
    figure.keep(figure.axes[1], replace(test, series=[*test.series, *known]))
    marks = [
        Line2D([], [], color=GREY, lw=0.7, alpha=0.6, label="one seed"),
        Line2D([], [], color=INK, lw=0.9, ls=(0, (1, 2)), label=level_name),
        Line2D([], [], color=INK, lw=1.0, ls="--", label="shifts, expected gradients"),
    ]
    legend(figure, [train, test], marks, markers=False)
    return figure


def ring_maps(
    maps: Mapping[str, Sequence[Sequence[float]]],
    weights: Float[ndarray, "seed place"],
    wanted: Float[ndarray, " place"],
    *,
    filled: int,
    clip: float,
) -> Figure:
    """Draw effective matrices, clipped to [-clip, clip], and the weights of the relative model by difference.

    >>> eye = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> figure = ring_maps({"APE": eye}, np.eye(3)[1:2], np.eye(3)[1], filled=2, clip=1.0)
    >>> [axes.get_xlabel() for axes in figure.axes[:2]]
    ['key place j', 'i - j + (n - 1)/2']
    """
    with paper_style():
        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08)
        figure = Drawing(figsize=size(4.0 * (len(maps) + 1), 4.0), layout=layout)
        axes = figure.subplots(1, len(maps) + 1)
        for each, (name, values) in zip(axes, maps.items(), strict=False):
            places = len(values)
            image = each.imshow(
                np.array(values),
                cmap="RdBu_r",
                vmin=-clip,
                vmax=clip,
                interpolation="nearest",
                extent=(0.5, places + 0.5, places + 0.5, 0.5),
            )
            each.grid(visible=False)
            each.set_title(name)
            each.set_xlabel("key place j")
            each.set_ylabel("query place i")
            edge = filled + 0.5
            each.plot([0.5, edge, edge], [edge, edge, 0.5], color=INK, lw=1.0, ls="--")
        bar = figure.colorbar(image, ax=list(axes[:-1]), shrink=0.8, pad=0.02, extend="both")
        bar.set_label("effective weight, clipped")
        _weights(axes[-1], weights, wanted)
        learned = Series("learned", "positional", list(range(len(wanted))), weights)
        given = Series("wanted", "baseline", list(range(len(wanted))), [wanted.tolist()], colour=INK)
        kept = Panel("RPE by difference", "i - j + (n - 1)/2", "weight", [learned, given], None)
        figure.keep(axes[-1], kept)
        settle(figure)
    return figure


def _weights(axes: Axes, weights: Float[ndarray, "seed place"], wanted: Float[ndarray, " place"]) -> None:
    look, index = look_of("positional"), np.arange(len(wanted))
    axes.plot(index, weights.T, color=look.colour, lw=0.9, alpha=0.5)
    axes.plot(index, wanted, ls="none", marker="o", ms=5, mfc="none", mec=INK, mew=0.9)
    axes.set_title("RPE by difference")
    axes.set_xlabel("i - j + (n - 1)/2")
    axes.set_box_aspect(1)
    marks = [
        Line2D([], [], color=look.colour, lw=0.9, label="learned"),
        Line2D([], [], ls="none", marker="o", ms=5, mfc="none", mec=INK, label="wanted"),
    ]
    axes.legend(handles=marks, loc="upper right", fontsize=points(8))


def _shade_filled(axes: Axes, panel: Panel) -> None:
    """Shade the places that were filled in training."""
    assert panel.trained_to is not None
    left, right = float(panel.series[0].x[0]) - 0.5, float(panel.series[0].x[-1]) + 0.5
    edge = float(panel.trained_to) + 0.5
    shade(axes, left, edge, "filled in training", at=0.475)
    axes.set_xlim(left, right)


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
