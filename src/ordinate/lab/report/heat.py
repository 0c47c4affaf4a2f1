"""Maps of cells: one number for every row and column, written into its cell."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator
from numpy import ndarray

from ordinate.lab.report.numbers import show_number, show_share
from ordinate.lab.report.style import (
    GREY,
    GRID,
    INK,
    OKABE_ITO,
    ink_on,
    paper_style,
    points,
    remark,
    size,
)


@dataclass(frozen=True)
class Heat:
    """Values above 0 of every seed by row and column, NaN where a seed failed; rows are drawn from the bottom up.

    With `percent` values are shares from 0 to 1, and per cents are rounded down. `words` are written into cells that
    have no value, and say why. `steps` has for every row the first column right of a line that is drawn as a
    staircase, the number of columns where none is; `remark` says what the line is.
    """

    title: str
    xlabel: str
    ylabel: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Float[ndarray, "seed row column"]
    steps: Sequence[int] = ()
    remark: str = ""
    percent: bool = False
    words: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wanted = len(self.rows), len(self.columns)
        if self.values.shape[1:] != wanted:
            raise ValueError(
                f"{self.title}: values are seeds x {wanted[0]} rows x {wanted[1]} columns, got {self.values.shape}"
            )
        if self.steps and len(self.steps) != len(self.rows):
            raise ValueError(f"{self.title}: {len(self.steps)} steps for {len(self.rows)} rows")

    @property
    def failed(self) -> Int[ndarray, "row column"]:
        """How many seeds of a cell are no finite number."""
        failed: ndarray = (~np.isfinite(self.values)).sum(0)
        return failed

    @property
    def medians(self) -> Float[ndarray, "row column"]:
        """Over the seeds that ended; NaN where none did."""
        known = np.where(np.isfinite(self.values), self.values, np.nan)
        found = np.full(known.shape[1:], np.nan)
        some = np.isfinite(known).any(0)
        found[some] = np.nanmedian(known[:, some], axis=0)
        return found


def heat_maps(heats: Sequence[Heat], *, columns: int) -> Figure:
    """Maps row by row, each as high as its rows need.

    >>> heat = Heat("error", "layers", "K", ["0"], ["1", "2"], np.array([[[0.5, 0.1]]]))
    >>> len(heat_maps([heat, heat], columns=3).axes)
    2
    """
    columns = min(columns, len(heats))
    rows = math.ceil(len(heats) / columns)
    height = 1.3 + 0.27 * max(len(heat.rows) for heat in heats)
    with paper_style():
        figure = Figure(figsize=size(4.4 * columns, height * rows), layout="constrained")
        for number, heat in enumerate(heats, start=1):
            draw_heat(figure.add_subplot(rows, columns, number), heat)
    return figure


def draw_heat(axes: Axes, heat: Heat) -> None:
    """Draw medians, the darker the larger, on a logarithmic scale of colours, shares on a linear one.

    Cells with failed seeds say so.

    >>> from matplotlib.figure import Figure
    >>> axes = Figure().add_subplot()
    >>> draw_heat(axes, Heat("error", "layers", "K", ["0"], ["1", "2"], np.array([[[0.5, np.nan]]]), [1]))
    >>> [text.get_text() for text in axes.texts]
    ['0.5', 'failed']
    """
    medians = heat.medians
    image = axes.imshow(
        np.ma.masked_invalid(medians),
        cmap="Blues",
        norm=_norm(heat),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
    )
    axes.grid(visible=False)
    for axis, names in ((axes.xaxis, heat.columns), (axes.yaxis, heat.rows)):
        axis.set_major_locator(FixedLocator(range(len(names))))
        axis.set_major_formatter(FixedFormatter(names))
    axes.tick_params(length=0)
    for row, column in np.ndindex(medians.shape):
        _write(axes, image.to_rgba(medians[row, column]), row, column, heat)  # type: ignore[arg-type]
    if heat.steps:
        _staircase(axes, heat)
    axes.set_xlabel(heat.xlabel)
    axes.set_ylabel(heat.ylabel)
    axes.set_title(heat.title, pad=points(6 + 12 * bool(heat.remark)))
    if heat.remark:
        remark(axes, heat.remark, above=4)


def _norm(heat: Heat) -> Normalize:
    if heat.percent:
        return Normalize(0, 1.25)
    shown = heat.medians[np.isfinite(heat.medians) & (heat.medians > 0)]
    least, most = (shown.min(), shown.max()) if len(shown) else (0.1, 1.0)
    # One value alone has no scale of its own; some room above keeps the largest from being all but black.
    return LogNorm(least if least < most else least / 10, most * 3, clip=True)


def _write(axes: Axes, colour: tuple[float, ...], row: int, column: int, heat: Heat) -> None:
    """The number of a cell in ink that can be read on it; of failed seeds how many."""
    failed, seeds = int(heat.failed[row, column]), len(heat.values)
    if word := heat.words.get((row, column)):
        axes.text(column, row, word, ha="center", va="center", fontsize=points(8), color=GREY)
        return
    if failed == seeds:
        cell = (column - 0.5, row - 0.5)
        axes.add_patch(Rectangle(cell, 1, 1, facecolor=GRID, edgecolor=GREY, hatch="///", lw=0))
        ground = {"facecolor": GRID, "edgecolor": "none", "pad": points(2)}
        axes.text(column, row, "failed", ha="center", va="center", fontsize=points(8), color=INK, bbox=ground)
        return
    median = heat.medians[row, column]
    text = show_share(median) if heat.percent else show_number(float(f"{median:.2g}"))  # cells are narrow
    if failed:
        text += f"\n{failed}/{seeds} failed"
    axes.text(column, row, text, ha="center", va="center", fontsize=points(8), color=ink_on(colour))


def _staircase(axes: Axes, heat: Heat) -> None:
    """A line along the left edges of the cells that `steps` names."""
    edges = [min(step, len(heat.columns)) - 0.5 for step in heat.steps]
    x = np.repeat(edges, 2)
    y = np.repeat(np.arange(len(heat.rows) + 1) - 0.5, 2)[1:-1]
    axes.plot(x, y, color=OKABE_ITO["vermilion"], lw=2.4, solid_joinstyle="miter", clip_on=False, zorder=4)
