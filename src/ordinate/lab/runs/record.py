"""What is known of a run without opening its files: the row of the index, read from the run's folder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.runs.facts import NAME, check_seed, read_facts, read_recipe
from ordinate.lab.runs.lock import held

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
    """Tell whether `path` has the name and the recipe of a run's folder.

    >>> is_run_folder(Path("runs/sum-1a2b3c4d5e/seed-0"))     # doctest: +SKIP
    True
    """
    if not _SEED_FOLDER.fullmatch(path.name) or not _RECIPE_FOLDER.fullmatch(path.parent.name):
        return False
    try:
        return (path / "recipe.toml").is_file()
    except OSError:
        return False


def run_folders(root: Path) -> Iterator[Path]:
    """Yield every run's folder under `root`, in order.

    >>> [path.name for path in run_folders(Path("runs"))]     # doctest: +SKIP
    ['seed-0', 'seed-1']
    """
    found = (path for path in root.glob("*/seed-*") if is_run_folder(path))
    yield from sorted(found, key=lambda path: (path.parent.name, int(path.name.removeprefix("seed-"))))


def run_id(path: Path) -> str:
    """Return the id of the run in the folder `path`.

    >>> run_id(Path("runs/sum-1a2b3c4d5e/seed-0"))
    'sum-1a2b3c4d5e/seed-0'
    """
    return f"{path.parent.name}/{path.name}"


def read_record(path: Path) -> RunRecord:
    """Return the record of the run in the folder `path`; a damaged run is shown as failed, with the cause.

    >>> read_record(Path("runs/sum-1a2b3c4d5e/seed-0")).status     # doctest: +SKIP
    'done'
    """
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
