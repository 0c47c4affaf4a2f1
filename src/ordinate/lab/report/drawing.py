"""Figures: what they are drawn from, panel by panel, a figure that keeps its numbers, and figures as files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from numpy import ndarray

from ordinate.errors import OrdinateError
from ordinate.lab.report.style import paper_style
from ordinate.lab.runs import write_bytes


@dataclass(frozen=True)
class Series:
    """One model: a value for each seed at each x, and the published medians where they are known.

    `role` decides colour, marker and line (`ordinate.lab.report.style.ROLES`).
    """

    label: str
    role: str
    x: Sequence[float | int]
    values: Sequence[Sequence[float | int]] | Float[ndarray, "seed point"]
    published: Mapping[float, float] | Mapping[int, float] = field(default_factory=dict)
    seeds: Sequence[int] = ()
    """The seed of every row; 0, 1, ... unless given."""
    colour: str = ""
    """Its colour, where it is not that of its role."""

    def __post_init__(self) -> None:
        if self.table.ndim != 2 or self.table.shape[1] != len(self.x) or not len(self.table):
            shape = " x ".join(map(str, self.table.shape))
            raise ValueError(f"{self.label}: values are seeds x {len(self.x)} points, got {shape}")
        if self.seeds and len(self.seeds) != len(self.table):
            raise ValueError(f"{self.label}: {len(self.seeds)} seeds but {len(self.table)} rows of values")

    @cached_property
    def table(self) -> Float[ndarray, "seed point"]:
        """The values as one array."""
        return np.array([list(row) for row in self.values], dtype=np.float64)

    @cached_property
    def finite(self) -> Bool[ndarray, " seed"]:
        """Which seeds are finite at every point."""
        whole: ndarray = np.isfinite(self.table).all(axis=1)
        return whole

    @property
    def failed(self) -> int:
        """How many seeds have a value that is not a finite number."""
        return int((~self.finite).sum())


@dataclass(frozen=True)
class Panel:
    """One task. Values of x up to `trained_to` were seen in training (`None`: do not mark them).

    Above `reach` no answer can be right by construction.
    """

    title: str
    xlabel: str
    ylabel: str
    series: Sequence[Series]
    trained_to: float | int | None = 1.0
    reach: float | int | None = None
    log_x: bool = False
    percent: bool = False
    """Values are shares, drawn from 0 to 100 % instead of on a logarithmic axis."""


class Drawing(Figure):
    """A figure that keeps the numbers it shows, so that a page can tell them and a table can list them.

    >>> figure = Drawing()
    >>> curve = Series("RPE", "positional", [1, 2], [[0.1, 0.2]])
    >>> figure.keep(figure.add_subplot(), Panel("sum", "scale c", "MSE", [curve]))
    >>> [panel.title for panel in figure.panels.values()]
    ['sum']
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.panels: dict[Axes, Panel] = {}

    def keep(self, axes: Axes, panel: Panel) -> None:
        """Remember what is drawn on the axes."""
        self.panels[axes] = panel


DPI = 160

Kind: TypeAlias = Literal["png", "svg", "pdf"]
_KINDS: tuple[Kind, ...] = get_args(Kind)
# A key set to None leaves out what matplotlib would write by itself.
_METADATA: dict[Kind, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


_CANVASES: dict[Kind, type[FigureCanvasBase]] = {
    "png": FigureCanvasAgg,
    "svg": FigureCanvasSVG,
    "pdf": FigureCanvasPdf,
}


def figure_bytes(figure: Figure, kind: Kind) -> bytes:
    """Return the figure as a file's content, without dates, versions or random names in it."""
    buffer = BytesIO()
    canvas, dpi = figure.canvas, figure.dpi
    # `savefig` draws all twice, once for a layout that is settled already.
    try:
        figure.dpi = DPI
        with paper_style():
            write = getattr(_CANVASES[kind](figure), f"print_{kind}")
            write(buffer, metadata=_METADATA[kind])
    finally:
        figure.set_canvas(canvas)
        figure.dpi = dpi
    return buffer.getvalue()


def save_figure(figure: Figure, path: str | Path, kinds: Sequence[Kind] = ("png", "svg")) -> list[Path]:
    """Write `path`.png and `path`.svg and return both paths; `path` has no suffix, dots in it are kept."""
    return write_images({kind: figure_bytes(figure, kind) for kind in kinds}, Path(path))


def write_images(images: Mapping[Kind, bytes], path: Path) -> list[Path]:
    """Write what `figure_bytes` gave, each kind to `path` with its ending."""
    contents = {path.with_name(f"{path.name}.{kind}"): content for kind, content in images.items()}
    for target, content in contents.items():
        write_bytes(target, content)
    return list(contents)


def write_figure(figure: Figure, path: Path) -> None:
    """Write one file, a PNG, an SVG or a PDF by its ending; another ending is refused."""
    check_ending(path)
    kind = next(kind for kind in _KINDS if path.suffix == f".{kind}")
    write_bytes(path, figure_bytes(figure, kind))


def check_ending(path: Path) -> None:
    """Refuse a file that is no PNG, SVG or PDF.

    >>> check_ending(Path("depth.jpg"))
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: 'depth.jpg' is no picture that can be written: write depth.png, .svg or .pdf
    """
    if path.suffix.removeprefix(".") not in _KINDS:
        raise OrdinateError(
            f"{str(path)!r} is no picture that can be written: write {path.stem}.png, .svg or .pdf"
        )
