"""Metrics as lines of JSON: one row a line, appended while training runs.

A kill can tear the last line. A torn line never parses (its closing brace is missing), so it is told apart
from a whole one, left out on reading and cut off before the next append.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.runs.files import Pathish, read_bytes, write_text
from ordinate.lab.runs.plain import from_json, is_number, is_whole, to_json


def append(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Append rows to the file and flush.

    >>> append(path, [{"step": 10, "loss": 0.5}])     # doctest: +SKIP
    """
    text = "".join(to_json(row) + "\n" for row in rows)
    if not text:
        return
    try:
        with path.open("ab+") as file:
            _mend(file)
            file.write(text.encode())
            file.flush()
    except OSError as error:
        raise OrdinateError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error


def read(path: Path) -> list[dict[str, Any]]:
    """Return all whole rows; an empty list when there is no file.

    >>> read(path)     # doctest: +SKIP
    [{'step': 10, 'loss': 0.5}]
    """
    return parse(read_bytes(path), path) if path.exists() else []


def parse(data: bytes, path: Pathish) -> list[dict[str, Any]]:
    """Return all whole rows in the content of the file `path`.

    >>> parse(b'{"step": 10, "loss": 0.5}\\n{"step": 20, "lo', "metrics.jsonl")
    [{'step': 10, 'loss': 0.5}]
    """
    lines = [line for line in data.split(b"\n") if line.strip()]
    rows = []
    for number, line in enumerate(lines, start=1):
        row = _parse(line)
        if row is None:
            if number < len(lines):
                raise OrdinateError(f"{path} line {number} is not a JSON object: repair or delete that line")
        elif not is_whole(row.get("step", 0)) or not is_number(row.get("loss", 0)):
            raise OrdinateError(
                f"{path} line {number} has a step or a loss that is no number: repair or delete that line"
            )
        else:
            rows.append(row)
    return rows


def truncate(path: Path, step: int) -> None:
    """Keep only the rows up to and including `step` (rows without a step stay), atomically.

    >>> truncate(path, step=200)     # doctest: +SKIP
    """
    if path.exists():
        kept = [row for row in read(path) if row.get("step", step) <= step]
        write_text(path, "".join(to_json(row) + "\n" for row in kept))


def sync(path: Path) -> None:
    """Make the rows written so far last through a power cut."""
    try:
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    except FileNotFoundError:
        pass
    except OSError as error:
        raise OrdinateError(f"cannot write {path}: {(error.strerror or str(error)).lower()}") from error


def _mend(file: Any) -> None:
    """End the file with a whole line: close the last one, or cut it off when it is torn."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    start = file.read().rfind(b"\n") + 1
    file.seek(start)
    if _parse(file.read()) is None:
        file.truncate(start)
    else:
        file.write(b"\n")


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        row = from_json(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None
