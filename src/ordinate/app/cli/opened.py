"""Models that commands open: those of runs and of the package, and compiled programs, which have a folder too."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ordinate.app.cli.summary import seeds_note
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import trained_point
from ordinate.lab.programs.files import is_compiled, load, read_description
from ordinate.lab.programs.task import task_of
from ordinate.lab.runs import Run, Store
from ordinate.lab.tasks import Task
from ordinate.lab.training import Evaluation, Recipe, load_model
from ordinate.lab.zoo import Card, load_card
from ordinate.lab.zoo import open_model as open_packaged
from ordinate.lab.zoo.cards import FOLDER, names
from ordinate.models import Model

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
    """The model of the package, of a run, by id, beginning of an id or folder, or of what `ordinate compile` wrote."""
    packaged = FOLDER / name if name in names() else None
    if is_compiled(packaged or Path(name)):
        return _open_compiled(packaged or Path(name), step)
    if packaged is not None:
        return _open_packaged(load_card(name), step)
    try:
        run = store.find(name)
    except OrdinateError as error:
        if close := get_close_matches(name, names(), n=1):
            raise OrdinateError(f"{error}; of the package, did you mean {close[0]!r}?") from error
        raise OrdinateError(f"{error}; the package has {', '.join(sorted(names()))}") from error
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


def _open_packaged(card: Card, step: int | None) -> Opened:
    if step not in (None, card.step):
        raise OrdinateError(f"the package has {card.name} at step {card.step} only: leave out --step")
    assert card.recipe is not None
    recipe = Recipe.parse(card.recipe)
    return Opened(
        card.name,
        FOLDER / card.name,
        recipe.model.name,
        recipe.task,
        dict(card.recipe.get("evaluation", {})),
        lambda: open_packaged(card.name),
        card.step,
        str(seeds_note(1)),
        card.averaged,
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
