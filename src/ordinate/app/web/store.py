"""What the page reads of a store: the list of runs, and metrics while they are written; no name leads out of it."""

import hashlib
import math
import os
import re
import statistics
import threading
import time
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import metric_of_task
from ordinate.lab.runs import RunRecord, Store, status_now
from ordinate.lab.runs.plain import canonical
from ordinate.lab.runs.record import parse_row
from ordinate.lab.training import Evaluation

FRESH = 0.5
"""Seconds for which a scan is good."""
AT_ONCE = 1 << 20
"""Bytes of metrics that are read in one call."""
LAST = 4096
"""Bytes at the end of metrics in which the last row is looked for."""
BROKEN = "broken"
"""The status of a run whose folder cannot be read."""
FILES = ("recipe.toml", "run.json", "metrics.jsonl", "checkpoints", "results")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_MARK = re.compile(r"(?P<file>[0-9]{1,20})-(?P<place>[0-9]{1,20})")


def inside(root: Path, *names: str) -> Path:
    """Return the path of these names under `root`; anything that would lead elsewhere is refused.

    >>> inside(Path("runs"), "sum-1a2b3c4d5e", "seed-0").as_posix()
    'runs/sum-1a2b3c4d5e/seed-0'
    >>> inside(Path("runs"), "..", "secret")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: '../secret' is not a name in this folder
    """
    path = root
    for name in names:
        if not _NAME.fullmatch(name):
            raise OrdinateError(f"{'/'.join(names)[:200]!r} is not a name in this folder")
        path = path / name
        if path.is_symlink():
            raise OrdinateError(f"{'/'.join(names)!r} is a link: this page reads no links")
    return path


def run_folder(store: Store, run: str) -> Path:
    """The folder of a run by its id, which cannot lead out of the store; nor can the files in it."""
    names = run.split("/")
    if len(names) != 2:
        raise OrdinateError(f"{run[:200]!r} is not a run: choose one of the list")
    folder = inside(store.root, *names)
    if not folder.is_dir():
        raise OrdinateError(f"there is no run {run!r} any more: choose one of the list")
    for name in FILES:
        inside(folder, name)
    return folder


class Listing:
    """All runs of a store as the page shows them, with a tag that changes when they do."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._scanned = -math.inf
        self._document: dict[str, Any] = {}
        self._tag = ""

    def read(self) -> tuple[dict[str, Any], str]:
        """The document and its tag; whoever comes while another scans waits for that scan."""
        with self._lock:
            if time.monotonic() - self._scanned >= FRESH:
                studies = studies_of(self.store)
                self._document = {"store": str(self.store.root), "studies": studies}
                self._tag = f'"{hashlib.sha256(canonical(self._document).encode()).hexdigest()[:20]}"'
                self._scanned = time.monotonic()
            return self._document, self._tag


def studies_of(store: Store) -> list[dict[str, Any]]:
    """Runs of one recipe are a study: its seeds, and the median of every score over those that are done."""
    records = sorted(store.runs(), key=lambda record: (record.name, record.key, record.seed))
    studies = []
    for (name, key), group in groupby(records, key=lambda record: (record.name, record.key)):
        runs = [_shown(store, record) for record in group]
        studies.append({"id": f"{name}-{key}", "name": name, "runs": runs, **_summary(runs)})
    return sorted(studies, key=lambda study: study["heard"] or 0.0, reverse=True)


def _shown(store: Store, record: RunRecord) -> dict[str, Any]:
    """One run; what is wrong with a broken one is said in its place."""
    facts: dict[str, Any] = {"id": record.id, "seed": record.seed}
    try:
        folder = run_folder(store, record.id)
    except OrdinateError as error:
        return {**facts, "status": BROKEN, "error": str(error), "heard": None, "scores": {}}
    live = last_row(folder / "metrics.jsonl") if record.status == "running" else {}
    return {
        **facts,
        "status": BROKEN if record.damaged else status_now(folder, record.status),
        "error": record.error,
        "task": record.task,
        "model": record.model,
        "metric": None if record.task is None else metric_of_task(record.task),
        "parameters": record.parameters,
        "step": live.get("step", record.step),
        "steps": record.steps,
        "loss": live.get("loss"),
        "heard": _heard(folder),
        "scores": record.scores,
        "tested": _tested(record.recipe),
    }


def _tested(recipe: dict[str, Any]) -> int:
    """How many samples are behind every score."""
    evaluation = recipe.get("evaluation")
    count = evaluation.get("count") if isinstance(evaluation, dict) else None
    return count if isinstance(count, int) else Evaluation().count


def _heard(folder: Path) -> float | None:
    """When the run was last written to, in seconds since 1970."""
    times = []
    for name in ("run.json", "metrics.jsonl"):
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            continue
    return round(max(times), 1) if times else None


def _summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    done = [run for run in runs if run["status"] == "done"]
    points = dict.fromkeys(point for run in done for point in run["scores"])
    known = next((run for run in runs if run.get("task")), {})
    return {
        **{key: known.get(key) for key in ("task", "model", "metric", "parameters")},
        "done": len(done),
        "failed": sum(run["status"] in ("failed", BROKEN) for run in runs),
        "heard": max((run["heard"] for run in runs if run["heard"] is not None), default=None),
        "median": {
            point: statistics.median(run["scores"].get(point, math.nan) for run in done) for point in points
        },
    }


@dataclass(frozen=True)
class Piece:
    """Rows after a mark, and the mark to ask with the next time."""

    rows: list[dict[str, Any]]
    mark: str
    """File and place in it; a file that was rewritten, as resuming does, has another one."""
    from_start: bool
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
        return Piece([], "", from_start=bool(mark), more=False, unreadable=0)
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
    """The place a mark stands for; None where the file has to be read from its beginning."""
    known = _MARK.fullmatch(mark or "")
    if known is None or int(known["file"]) != inode or int(known["place"]) > size:
        return None
    return int(known["place"])


def _rows(data: bytes) -> tuple[list[dict[str, Any]], int]:
    rows, unreadable = [], 0
    for line in data.split(b"\n"):
        if not line.strip():
            continue
        row = parse_row(line)
        if row is None:
            unreadable += 1
        else:
            rows.append(row)
    return rows, unreadable
