"""The embedded index: one SQLite file beside the runs, so that a thousand of them are listed in a moment.

The folders are the truth, and runs write nothing else. Before every question the index compares itself with them
(one `stat` a run) and reads again what differs: runs that are new, went on, were copied in or deleted. A missing or
corrupt index is made anew. Where none can be written, one in memory does the same.
"""

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.runs.lock import in_turn
from ordinate.lab.runs.plain import from_json, is_whole, to_json
from ordinate.lab.runs.record import RunRecord, check_seed, read_record, run_folders, run_id

_VERSION = 2
_COLUMNS = (
    *("id", "name", "key", "seed", "status", "task", "model", "step", "steps", "parameters"),
    *("created", "updated", "error", "scores", "recipe", "stamp"),
)
_FILTERS = {"name": "GLOB", "task": "=", "model": "=", "status": "=", "seed": "="}
_ABSENT = object()
_ATTEMPTS = 40

T = TypeVar("T")


class Index:
    """The table of all runs under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "index.sqlite"

    def select(self, where: dict[str, Any] | None = None, **filters: Any) -> list[RunRecord]:
        """Return the runs that satisfy every filter, in the order of their ids.

        `name` is a glob, `task`, `model`, `status` and `seed` are equal or one of a list, and `where` gives
        values for dotted keys of the recipe.
        """
        clause, values = _clause(filters)

        def ask(connection: sqlite3.Connection) -> list[RunRecord]:
            _sync(connection, self.root)
            rows = connection.execute(f"SELECT * FROM runs {clause} ORDER BY name, key, seed", values)
            return [_record(row) for row in rows]

        try:
            records = self._work(ask)
        except (sqlite3.Error, OSError):
            records = self._in_memory(ask)
        wanted = (where or {}).items()
        return [r for r in records if all(_dotted(r.recipe, key) == value for key, value in wanted)]

    def rebuild(self) -> None:
        """Forget all rows and read every folder again."""

        def again(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM runs")
            _sync(connection, self.root)

        try:
            self._work(again)
        except (sqlite3.Error, OSError) as error:
            raise OrdinateError(f"cannot write {self.path}: {error}") from error

    def _work(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do `work` in one transaction; make a corrupt file anew and do it again."""
        repairs = 0
        for attempt in range(_ATTEMPTS):
            try:
                return self._transaction(work)
            except sqlite3.DatabaseError as error:
                if attempt == _ATTEMPTS - 1:
                    raise
                if not _says(error, "locked", "busy"):
                    usable = not isinstance(
                        error, sqlite3.OperationalError
                    )  # it is not: disk full, read-only
                    if repairs == 3 or not (usable or _says(error, "no such", "column")):
                        raise
                    repairs += 1
                    self._remove_if_corrupt()
                # SQLite does not wait for the few locks taken on opening and closing a file: ask again.
                time.sleep(0.02 * (attempt + 1))
        raise AssertionError("unreachable")

    def _transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if not self.root.is_dir():
            return self._in_memory(work)
        connection = sqlite3.connect(self.path, timeout=30.0, isolation_level=None)
        with contextlib.closing(connection):
            return _transact(connection, work, wal=True)

    def _in_memory(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
            return _transact(connection, work, wal=False)

    def _remove_if_corrupt(self) -> None:
        """Remove the file, once, however many processes have found it corrupt at the same time."""
        with in_turn(self.root):
            try:
                sound = self._transaction(_is_sound)
            except sqlite3.DatabaseError as error:
                sound = _says(error, "locked", "busy")
            if not sound:
                for suffix in ("-wal", "-shm", "-journal", ""):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)


def _says(error: sqlite3.Error, *words: str) -> bool:
    return any(word in str(error) for word in words)


def _is_sound(connection: sqlite3.Connection) -> bool:
    columns = tuple(row["name"] for row in connection.execute("PRAGMA table_info(runs)"))
    return columns == _COLUMNS and connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def _transact(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T], wal: bool) -> T:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA busy_timeout = 30000")
    if wal:
        # Writers and readers side by side, where the file system can; otherwise the default journal.
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            connection.execute("DROP TABLE IF EXISTS runs")
            connection.execute(f"CREATE TABLE runs ({', '.join(_COLUMNS)}, PRIMARY KEY (id))")
            connection.execute(f"PRAGMA user_version = {_VERSION}")
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return result


def _sync(connection: sqlite3.Connection, root: Path) -> None:
    """Bring the rows in line with the folders."""
    folders = {run_id(folder): folder for folder in run_folders(root)}
    known = dict(connection.execute("SELECT id, stamp FROM runs").fetchall())
    changed = (folder for id_, folder in folders.items() if known.get(id_) != _stamp(folder))
    marks = ", ".join("?" * len(_COLUMNS))
    connection.executemany(f"INSERT OR REPLACE INTO runs VALUES ({marks})", _rows(changed))
    gone = [(id_,) for id_ in known if id_ not in folders]
    connection.executemany("DELETE FROM runs WHERE id = ?", gone)


def _rows(folders: Iterable[Path]) -> Iterator[tuple[Any, ...]]:
    for folder in folders:
        stamp = _stamp(folder)  # before reading: a write in between shows as a difference the next time
        record = read_record(folder)
        facts = {**vars(record), "scores": to_json(record.scores), "recipe": to_json(record.recipe)}
        facts["seed"] = record.seed if is_whole(record.seed) else str(record.seed)  # of a folder made by hand
        yield tuple(stamp if column == "stamp" else facts[column] for column in _COLUMNS)


def _stamp(folder: Path) -> str:
    """Return the times of the last changes of the run's recipe and record, 0 where there is none."""
    return "-".join(str(_changed(folder / name)) for name in ("recipe.toml", "run.json"))


def _changed(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def _record(row: sqlite3.Row) -> RunRecord:
    facts = {column: row[column] for column in _COLUMNS if column != "stamp"}
    facts["scores"], facts["recipe"] = from_json(facts["scores"]), from_json(facts["recipe"])
    facts["seed"] = int(facts["seed"])
    return RunRecord(**facts)


def _clause(filters: dict[str, Any]) -> tuple[str, list[Any]]:
    """Return the SQL condition and its values."""
    conditions, values = [], []
    for key, value in filters.items():
        if key not in _FILTERS:
            raise OrdinateError(f"runs cannot be filtered by {key!r}: {nearest(key, [*_FILTERS, 'where'])}")
        if value is None:
            continue
        several = list(value) if isinstance(value, list | tuple | set | range) else [value]
        if key == "seed":
            for seed in several:
                check_seed(seed)
        conditions.append("(" + (" OR ".join([f"{key} {_FILTERS[key]} ?"] * len(several)) or "0") + ")")
        values.extend(several)
    return ("WHERE " + " AND ".join(conditions) if conditions else ""), values


def _dotted(recipe: dict[str, Any], key: str) -> Any:
    value: Any = recipe
    for part in key.split("."):
        if not isinstance(value, dict) or part not in value:
            return _ABSENT
        value = value[part]
    return value
