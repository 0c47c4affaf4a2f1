"""Figures as files: the same figure gives the same bytes, and a reader never meets half a file."""

import os
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Literal

from matplotlib.figure import Figure

from ordinate.figures.style import paper_style

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
        write_atomically(target, content)
    return list(contents)


def write_atomically(path: Path, content: bytes) -> None:
    """Write under a temporary name beside `path`, then rename: the file is whole or it is the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        umask = os.umask(0)
        os.umask(umask)
        Path(temporary).chmod(0o666 & ~umask)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
