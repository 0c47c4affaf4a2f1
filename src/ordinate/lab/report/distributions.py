"""Distributions over whole numbers: exact bars with the shares that sampling found, and a tail along lengths."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from ordinate.lab.report.curves import settle
from ordinate.lab.report.drawing import Drawing, Panel, Series
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.style import look_of, paper_style, size, thinned

LEAST = 1e-7
"""Smaller probabilities are not drawn."""


@dataclass(frozen=True)
class Distribution:
    """P(k), k = 0, 1, ..., exactly, and the shares that each seed found."""

    title: str
    exact: Sequence[float]
    sampled: Sequence[Sequence[float]]


def distributions(
    bars: Sequence[Distribution], measure: str, tail: Mapping[int, float], tail_name: str
) -> Figure:
    """Draw each distribution as bars with dots for the samples, and the tail probability along lengths.

    >>> one = Distribution("5 digits", [0.5, 0.4, 0.1], [[0.51, 0.39, 0.1]])
    >>> figure = distributions([one], "longest cascade", {5: 0.001, 50: 0.01}, "P(more than 4)")
    >>> len(figure.axes)
    2
    """
    with paper_style():
        layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08)
        figure = Drawing(figsize=size(3.9 * (len(bars) + 1), 3.7), layout=layout)
        axes = figure.subplots(1, len(bars) + 1)
        for each, distribution in zip(axes, bars, strict=False):
            _bars(each, distribution, measure)
            figure.keep(each, _kept(distribution, measure))
        _tail(axes[-1], tail, tail_name)
        exact = Series("exact", "positional", list(tail), [list(tail.values())])
        figure.keep(axes[-1], Panel("at any length", "digits", tail_name, [exact], trained_to=None))
        marks = [
            Patch(color=look_of("positional").colour, alpha=0.55, lw=0, label="exact"),
            Line2D(
                [],
                [],
                ls="none",
                marker="o",
                ms=4,
                color=look_of("standard").colour,
                label="sampled, one seed",
            ),
        ]
        figure.legend(handles=marks, loc="outside lower center", ncols=2)
        settle(figure)
    return figure


def _kept(distribution: Distribution, measure: str) -> Panel:
    shown = [k for k, p in enumerate(distribution.exact) if p > 1.5 * LEAST]
    sampled = [[row[k] if k < len(row) else 0.0 for k in shown] for row in distribution.sampled]
    series = [
        Series("exact", "positional", shown, [[distribution.exact[k] for k in shown]]),
        Series("sampled", "standard", shown, sampled),
    ]
    return Panel(distribution.title, measure, "probability", series, trained_to=None)


def _bars(axes: Axes, distribution: Distribution, measure: str) -> None:
    shown = [(k, p) for k, p in enumerate(distribution.exact) if p > 1.5 * LEAST]
    axes.bar(
        [k for k, _ in shown],
        [p for _, p in shown],
        width=0.72,
        color=look_of("positional").colour,
        alpha=0.55,
    )
    wide = 0.44 / max(len(distribution.sampled) - 1, 1)
    for seed, row in enumerate(distribution.sampled):
        found = [(k, p) for k, p in enumerate(row) if p > 0]
        axes.plot(
            [k - 0.22 + wide * seed for k, _ in found],
            [p for _, p in found],
            ls="none",
            marker="o",
            ms=3,
            mew=0,
            color=look_of("standard").colour,
            zorder=3,
        )
    axes.set_yscale("log")
    axes.set_ylim(LEAST, 2)
    axes.yaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_locator(FixedLocator([k for k, _ in shown]))
    axes.grid(visible=False, axis="x")
    axes.set_title(distribution.title)
    axes.set_xlabel(measure)
    axes.set_ylabel("probability")


def _tail(axes: Axes, tail: Mapping[int, float], name: str) -> None:
    look = look_of("positional")
    axes.plot(list(tail), list(tail.values()), look.line, marker=look.marker, color=look.colour)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator(thinned([float(n) for n in tail])))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: show_number(int(x))))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_title("at any length")
    axes.set_xlabel("digits")
    axes.set_ylabel(name)
