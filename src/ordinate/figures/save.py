"""Figures as files: the same figure gives the same bytes, and a reader never meets half a file."""

from io import BytesIO
from pathlib import Path
from typing import Literal

from matplotlib.figure import Figure

from ordinate.errors import OrdinateError
from ordinate.figures.style import paper_style
from ordinate.runs import write_bytes

DPI = 160


def figure_bytes(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """Return the figure as a file's content, without dates, versions or random names in it."""
    buffer = BytesIO()
    # A key set to None leaves out what matplotlib would write by itself.
    metadata = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    with paper_style():
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    return buffer.getvalue()


def save_figure(figure: Figure, path: str | Path) -> list[Path]:
    """Write `path`.png and `path`.svg and return both paths; `path` has no suffix, dots in it are kept.

    >>> save_figure(figure, "out/value-scale")  # doctest: +SKIP
    [PosixPath('out/value-scale.png'), PosixPath('out/value-scale.svg')]
    """
    path = Path(path)
    contents = {path.with_name(f"{path.name}.{kind}"): figure_bytes(figure, kind) for kind in ("png", "svg")}
    for target, content in contents.items():
        write_bytes(target, content)
    return list(contents)


def write_figure(figure: Figure, path: Path) -> None:
    """Write one file, a PNG or an SVG by its ending; another ending is refused."""
    check_ending(path)
    write_bytes(path, figure_bytes(figure, "svg" if path.suffix == ".svg" else "png"))


def check_ending(path: Path) -> None:
    """Refuse a file that is neither a PNG nor an SVG.

    >>> check_ending(Path("depth.pdf"))
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: 'depth.pdf' is no picture that can be written: write depth.png or depth.svg
    """
    if path.suffix not in (".png", ".svg"):
        raise OrdinateError(
            f"{str(path)!r} is no picture that can be written: write {path.stem}.png or {path.stem}.svg"
        )
