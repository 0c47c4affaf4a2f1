"""Models that commands open: those of runs, and compiled programs, which have a folder too."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordinate.cli.summary import seeds_note
from ordinate.errors import OrdinateError
from ordinate.evaluation.sweep import trained_point
from ordinate.models import Model
from ordinate.programs.files import is_compiled, load, read_description
from ordinate.programs.task import task_of
from ordinate.runs import Run, Store
from ordinate.tasks import Task
from ordinate.training import Evaluation, Recipe, load_model

COMPILED = "compiled"


@dataclass(frozen=True)
class Opened:
    """A model with the task it is measured on, and what a person is told of where it comes from."""

    id: str
    path: Path
    kind: str
    task: Task
    evaluation: dict[str, Any]
    """What is measured of it unless something else is asked for."""
    load: Callable[[], Model]
    step: int | None
    """Of the checkpoint; a compiled model has none."""
    note: str
    averaged: bool = False

    def measured(self, wanted: dict[str, Any]) -> Evaluation:
        """What is to be measured, with axes that the task has."""
        return Evaluation.parse(wanted, self.task)


def open_model(name: str, store: Store, step: int | None = None) -> Opened:
    """The model of a run, by id, beginning of an id or folder, or that of a folder that `ordinate compile` wrote."""
    if is_compiled(Path(name)):
        return _open_compiled(Path(name), step)
    run = store.find(name)
    recipe = Recipe.parse(run.recipe)
    return Opened(
        run.id,
        run.path,
        recipe.model.name,
        recipe.task,
        dict(run.recipe.get("evaluation", {})),
        lambda: load_model(run, step),
        step if step is not None else (run.checkpoints() or [0])[-1],
        str(seeds_note(1)),
        bool(run.record().get("averaged")),
    )


def _open_compiled(folder: Path, step: int | None) -> Opened:
    if step is not None:
        raise OrdinateError(f"{folder} is a compiled program, which has no steps: leave out --step")
    facts = read_description(folder)
    task = task_of(facts["program"], facts["n"], whole=all(known["whole"] for known in facts["inputs"]))
    axis, value = trained_point(task)
    return Opened(
        f"{facts['program']} on {facts['n']} processors",
        folder,
        COMPILED,
        task,
        {"axes": {axis: [value]}},
        lambda: load(folder),
        None,
        f"compiled, not trained; proven error bound {facts['error_bound']:.3g}",
    )


def find_run(store: Store, name: str) -> Run:
    """A run of a store, for commands that need a training."""
    if is_compiled(Path(name)):
        raise OrdinateError(
            f"{name} is a compiled program, not a run: ordinate evaluate and ordinate report take it"
        )
    return store.find(name)
