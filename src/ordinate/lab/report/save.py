"""Figures as files: the same figure gives the same bytes, and a reader never meets half a file."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ordinate.errors import OrdinateError
from ordinate.lab.report.style import paper_style
from ordinate.lab.runs import write_bytes

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
    """Write `path`.png and `path`.svg and return both paths; `path` has no suffix, dots in it are kept.

    >>> save_figure(figure, "out/value-scale")  # doctest: +SKIP
    [PosixPath('out/value-scale.png'), PosixPath('out/value-scale.svg')]
    """
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
