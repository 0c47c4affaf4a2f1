"""Reading metrics while they are written: only what is new, a bounded piece at a time."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordinate.lab.runs.plain import from_json

AT_ONCE = 1 << 20
"""Bytes that are read in one call."""
LAST = 4096
"""Bytes at the end in which the last row is looked for."""

_MARK = re.compile(r"(?P<file>[0-9]{1,20})-(?P<place>[0-9]{1,20})")


@dataclass(frozen=True)
class Piece:
    """Rows after a mark, and the mark to ask with the next time."""

    rows: list[dict[str, Any]]
    mark: str
    """File and place in it; a file that was rewritten, as resuming does, has another one."""
    anew: bool
    """The rows begin at the beginning: forget those before."""
    more: bool
    """There is more to read at once."""
    unreadable: int
    """Lines that are not rows."""


def read_after(path: Path, mark: str | None) -> Piece:
    """Return the whole rows behind `mark`, all from the beginning where it is None or of another file."""
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            start = _place(mark, state.st_ino, state.st_size)
            file.seek(start or 0)
            data = file.read(AT_ONCE)
    except (FileNotFoundError, NotADirectoryError):
        return Piece([], "", anew=bool(mark), more=False, unreadable=0)
    whole = data.rfind(b"\n") + 1
    if not whole and len(data) == AT_ONCE:
        whole = len(data)  # no row is that long
    place = (start or 0) + whole
    rows, unreadable = _rows(data[:whole])
    return Piece(rows, f"{state.st_ino}-{place}", start is None, len(data) == AT_ONCE, unreadable)


def last_row(path: Path) -> dict[str, Any]:
    """Return the last row that has a loss, from the end of the file; an empty one where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LAST))
            data = file.read()
    except OSError:
        return {}
    rows, _ = _rows(data[: data.rfind(b"\n") + 1])
    return next((row for row in reversed(rows) if "loss" in row), {})


def _place(mark: str | None, inode: int, size: int) -> int | None:
    """The place a mark stands for; None where the file has to be read anew."""
    known = _MARK.fullmatch(mark or "")
    if known is None or int(known["file"]) != inode or int(known["place"]) > size:
        return None
    return int(known["place"])


def _rows(data: bytes) -> tuple[list[dict[str, Any]], int]:
    rows, unreadable = [], 0
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        try:
            row = from_json(line)
        except (ValueError, RecursionError):  # the latter where brackets are nested a thousand deep
            row = None
        if isinstance(row, dict):
            rows.append(row)
        else:
            unreadable += 1
    return rows, unreadable
