"""What is known of a run: its recipe, facts and metrics, read with care, and the record that listings show.

Files may have been written by a newer version, by hand or by a broken disk. What is not as expected is refused in one
line with the file and the cause, and never taken for something else.
"""

import os
import re
import reprlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.runs.files import Pathish, one_line, parse_json, read_bytes
from ordinate.lab.runs.lock import held
from ordinate.lab.runs.plain import from_json, is_number, is_whole, to_json
from ordinate.lab.toml import LARGEST, parse_toml

VERSION = 1
"""Of `run.json`; a record without one is of the first version."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Of a recipe, which names the folders of its runs."""
STATUSES = ("new", "running", "done", "failed")


def _is_seeds(value: object) -> bool:
    return isinstance(value, list) and all(map(is_whole, value))


def _is_scores(value: object) -> bool:
    return isinstance(value, dict) and all(map(is_number, value.values()))


_CHECKS: dict[str, type | Callable[[object], bool]] = {
    **dict.fromkeys(("version", "step", "steps", "parameters", "samples_seen"), is_whole),
    **dict.fromkeys(("created", "updated", "error"), str),
    **dict.fromkeys(("environment", "picked"), dict),
    "averaged": bool,
    "seconds": is_number,
    "scores": _is_scores,
    "together": _is_seeds,
}
"""What a fact must be where it is there and not null; other facts may be anything."""


def read_recipe(path: Path) -> dict[str, Any]:
    """Return the recipe in the run's folder `path`."""
    return parse_recipe(read_bytes(path / "recipe.toml"), path / "recipe.toml")


def parse_recipe(data: bytes, file: Pathish) -> dict[str, Any]:
    """Return the recipe that `file` holds.

    >>> parse_recipe(b'name = "sum"', "recipe.toml")
    {'name': 'sum'}
    """
    try:
        recipe = parse_toml(data.decode())
    except (ValueError, OrdinateError) as error:
        raise OrdinateError(f"{file} is not readable TOML: {one_line(error)}") from error
    try:
        to_json(recipe)  # a date, say, is TOML and no setting
    except OrdinateError as error:
        raise OrdinateError(f"{file} is not the recipe of a run: {error}") from error
    name = recipe.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise OrdinateError(f"{file} is not the recipe of a run: its name is {reprlib.repr(name)}")
    return recipe


def read_facts(path: Path) -> dict[str, Any]:
    """Return the content of `run.json` in the run's folder `path`; an empty dict when it is not there yet."""
    file = path / "run.json"
    return parse_facts(read_bytes(file), file) if os.path.lexists(file) else {}


def parse_facts(data: bytes, file: Pathish) -> dict[str, Any]:
    """Return the record of a run that `file` holds.

    >>> parse_facts(b'{"status": "running", "step": 20}', "run.json")
    {'status': 'running', 'step': 20}
    """
    facts = parse_json(data, file)
    if not isinstance(facts, dict):
        raise _no_record(file, "it holds no table")
    version = facts.get("version", VERSION)
    if is_whole(version) and version > VERSION:
        raise OrdinateError(
            f"{file} has version {version}, but this ordinate reads up to {VERSION}: upgrade ordinate"
        )
    if fault := fault_of(facts):
        raise _no_record(file, fault)
    if facts.get("status", "new") not in STATUSES:
        raise OrdinateError(
            f"{file} has the status {facts['status']!r}, which this ordinate does not know: upgrade ordinate"
        )
    return facts


def fault_of(facts: dict[str, Any]) -> str | None:
    """What a record says that no run can have; None where there is nothing.

    >>> fault_of({"status": "failed", "step": 7, "error": "the loss is nan"})
    >>> fault_of({"step": -1})
    'step is -1'
    """
    for key, check in _CHECKS.items():
        value = facts.get(key)
        if value is None:
            continue
        if not (isinstance(value, check) if isinstance(check, type) else check(value)):
            return f"{key} is {reprlib.repr(value)}"
    status = facts.get("status", "new")
    if not isinstance(status, str):
        return f"status is {reprlib.repr(status)}"
    if status == "failed" and facts.get("step") is None:
        return f"status failed, but no step ({facts.get('error') or 'no error'})"
    return None


def parse_metrics(data: bytes, file: Pathish) -> list[dict[str, Any]]:
    """Return all whole rows of the metrics that `file` holds, one JSON object a line.

    A kill can tear the last line. A torn line never parses (its closing brace is missing), so it is told apart from a
    whole one and left out.

    >>> parse_metrics(b'{"step": 10, "loss": 0.5}\\n{"step": 20, "lo', "metrics.jsonl")
    [{'step': 10, 'loss': 0.5}]
    """
    lines = [line for line in data.split(b"\n") if line.strip()]
    rows = []
    for number, line in enumerate(lines, start=1):
        row = parse_row(line)
        if row is None:
            if number < len(lines):
                raise OrdinateError(f"{file} line {number} is not a JSON object: repair or delete that line")
        elif not is_whole(row.get("step", 0)) or not is_number(row.get("loss", 0)):
            raise OrdinateError(
                f"{file} line {number} has a step or a loss that is no number: repair or delete that line"
            )
        else:
            rows.append(row)
    return rows


def parse_row(line: bytes) -> dict[str, Any] | None:
    """Return the row that a line of metrics holds, None where it is torn."""
    try:
        row = from_json(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def check_seed(seed: int) -> None:
    """Refuse a seed that cannot be stored."""
    if not is_whole(seed):
        raise OrdinateError(
            f"a seed cannot be {reprlib.repr(seed)}: write a whole number from 0 to {LARGEST}"
        )


def _no_record(file: Pathish, cause: str) -> OrdinateError:
    return OrdinateError(f"{file} is not the record of a run, {cause}: delete it and train again")


_RECIPE_FOLDER = re.compile(rf"(?P<name>{NAME.pattern})-(?P<key>[0-9a-f]{{10}})")
_SEED_FOLDER = re.compile(r"seed-(?P<seed>0|[1-9][0-9]*)")


@dataclass(frozen=True)
class RunRecord:
    """One run as the index knows it.

    >>> record = store.runs(task="addition", status="done")[0]     # doctest: +SKIP
    >>> record.id, record.scores                                    # doctest: +SKIP
    ('addition-upe-1a2b3c4d5e/seed-0', {'exact': 0.97})
    """

    id: str
    name: str
    key: str
    seed: int
    status: str = "new"
    task: str | None = None
    model: str | None = None
    step: int | None = None
    steps: int | None = None
    parameters: int | None = None
    created: str | None = None
    updated: str | None = None
    error: str | None = None
    scores: dict[str, Any] = field(default_factory=dict)
    recipe: dict[str, Any] = field(default_factory=dict)

    @property
    def damaged(self) -> bool:
        """Whether the folder could not be read: the record of a run that was made says when."""
        return self.status == "failed" and self.created is None


def status_now(folder: Path, status: str) -> str:
    """The status as a person is told it: a run that says running, with nobody at work on it, is stopped."""
    return "stopped" if status == "running" and not held(folder / "lock") else status


def is_run_folder(path: Path) -> bool:
    """Tell whether `path` has the name and the recipe of a run's folder."""
    if not _SEED_FOLDER.fullmatch(path.name) or not _RECIPE_FOLDER.fullmatch(path.parent.name):
        return False
    try:
        return (path / "recipe.toml").is_file()
    except OSError:
        return False


def run_folders(root: Path) -> Iterator[Path]:
    """Yield every run's folder under `root`, in order."""
    found = (path for path in root.glob("*/seed-*") if is_run_folder(path))
    yield from sorted(found, key=lambda path: (path.parent.name, int(path.name.removeprefix("seed-"))))


def run_id(path: Path) -> str:
    """Return the id of the run in the folder `path`.

    >>> run_id(Path("runs/sum-1a2b3c4d5e/seed-0"))
    'sum-1a2b3c4d5e/seed-0'
    """
    return f"{path.parent.name}/{path.name}"


def read_record(path: Path) -> RunRecord:
    """Return the record of the run in the folder `path`; a damaged run is shown as failed, with the cause."""
    match = _RECIPE_FOLDER.fullmatch(path.parent.name)
    if match is None:
        raise OrdinateError(f"{path} is not a run's folder: give <name>-<key>/seed-<k>")
    recipe: dict[str, Any] = {}
    seed = int(path.name.removeprefix("seed-"))
    try:
        check_seed(seed)
        recipe = read_recipe(path)
        facts = read_facts(path)
    except OrdinateError as error:
        facts = {"status": "failed", "error": str(error)}
    return RunRecord(
        id=run_id(path),
        name=match["name"],
        key=match["key"],
        seed=seed,
        status=facts.get("status", "new"),
        task=_text(recipe, "task", "name"),
        model=_text(recipe, "model", "kind"),
        step=facts.get("step"),
        steps=facts.get("steps"),
        parameters=facts.get("parameters"),
        created=facts.get("created"),
        updated=facts.get("updated"),
        error=facts.get("error"),
        scores=facts.get("scores") or {},
        recipe=recipe,
    )


def _text(recipe: dict[str, Any], table: str, key: str) -> str | None:
    inner = recipe.get(table)
    value = inner.get(key) if isinstance(inner, dict) else None
    return value if isinstance(value, str) else None
