"""Models by name: those of runs and of the package, and compiled programs, which have a folder too; measured alike.

>>> evaluate(find_model("addition-relation"), {"length": [5, 10]}, count=100).to_dict()      # doctest: +SKIP
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.claims import seeds_note
from ordinate.lab.evaluation.points import Point
from ordinate.lab.evaluation.slices import Slice, sliced
from ordinate.lab.evaluation.sweep import measure, test_set, trained_point
from ordinate.lab.programs.files import is_compiled, read_description
from ordinate.lab.programs.files import load as load_compiled
from ordinate.lab.programs.task import task_of
from ordinate.lab.runs import Run, Store
from ordinate.lab.tasks import Task
from ordinate.lab.training import Evaluation, Recipe, load_model
from ordinate.lab.zoo.cards import FOLDER, Card, load_card, names, open_model
from ordinate.models import Model

COMPILED = "compiled"


@dataclass(frozen=True)
class Opened:
    """A model with the task it is measured on, and a note for a person on where it comes from."""

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


@dataclass(frozen=True)
class SliceTable:
    """Scores by a property of the samples, at one length."""

    name: str
    length: int
    in_distribution: bool
    rows: Sequence[Slice]

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        facts = {"slice": self.name, "length": self.length, "in_distribution": self.in_distribution}
        return {**facts, "rows": [row.to_dict() for row in self.rows]}


@dataclass(frozen=True)
class Scores:
    """What was measured of a model: points on axes, one of them in distribution, and tables by a slice."""

    model: Opened
    count: int
    seed: int
    points: Sequence[Point]
    slices: Sequence[SliceTable] | None

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        found = self.model
        facts = {"run": found.id, "path": str(found.path), "task": found.task.name, "model": found.kind}
        numbers = {"step": found.step, "averaged": found.averaged, "count": self.count, "seed": self.seed}
        tables = {} if self.slices is None else {"slices": [table.to_dict() for table in self.slices]}
        return {
            **facts,
            **numbers,
            "note": found.note,
            "points": [point.to_dict() for point in self.points],
            **tables,
        }


def evaluate(
    model: Opened | str,
    axes: Mapping[str, Sequence[float | int]] | None = None,
    by: str | None = None,
    *,
    count: int | None = None,
    length: int | None = None,
    seed: int = 0,
) -> Scores:
    """Measure a model, given as such or by name, along axes and by a slice; default the axes of its recipe.

    `length` is that of slices and of axes other than the length. Models measured with the same seed meet the same
    samples.
    """
    found = find_model(model) if isinstance(model, str) else model
    wanted = dict(found.evaluation)
    if axes or by:
        wanted["axes"] = dict(axes or {})
    wanted |= {key: value for key, value in (("count", count), ("length", length)) if value is not None}
    task, evaluation = found.task, Evaluation.parse(wanted, found.task)
    if not evaluation.axes and not by:
        axis = "scale=1:10" if "scale" in task.axes else f"{task.axes[0]}={max(task.lengths())}"
        raise OrdinateError(f"the recipe of {found.id} names no axis: add --axis {axis}")
    loaded = found.load()

    def at(axis: str, value: float, length: int | None) -> Point:
        tests = test_set(task, axis, value, count=evaluation.count, seed=seed, length=length)
        relative, absolute = evaluation.relative, evaluation.absolute
        return measure(loaded, task, tests, relative=relative, absolute=absolute)[0]

    points = [at(axis, v, evaluation.length) for axis, values in evaluation.axes.items() for v in values]
    inside = trained_point(task)
    if not any(point.in_distribution and point.axis in (inside[0], "length") for point in points):
        points.insert(0, at(*inside, None))
    if not by:
        return Scores(found, evaluation.count, seed, points, None)
    tables, trained = [], max(task.lengths())
    for tokens in dict.fromkeys((trained if evaluation.length is None else evaluation.length, trained)):
        tests = test_set(task, "length", float(tokens), count=evaluation.count, seed=seed)
        tables.append(SliceTable(by, tokens, tests.in_distribution, sliced(loaded, task, tests, by)))
    return Scores(found, evaluation.count, seed, points, tables)


def load(name: str | Run, store: Store | str = "runs", step: int | None = None) -> Model:
    """Open the model of a run (at a step or at its end), a model of the package, or a compiled program.

    >>> load("addition-relation")                                                # doctest: +ELLIPSIS
    Encoder(...)
    """
    if isinstance(name, Run):
        return load_model(name, step)
    return find_model(name, Store(store) if isinstance(store, str) else store, step).load()


def find_model(name: str, store: Store | None = None, step: int | None = None) -> Opened:
    """The model of the package, of a run, by id, beginning of an id or folder, or of what `ordinate compile` wrote."""
    packaged = FOLDER / name if name in names() else None
    if is_compiled(packaged or Path(name)):
        return _open_compiled(packaged or Path(name), step)
    if packaged is not None:
        return _open_packaged(load_card(name), step)
    try:
        run = (store or Store("runs")).find(name)
    except OrdinateError as error:
        if close := get_close_matches(name, names(), n=1):
            raise OrdinateError(f"{error}; of the package, did you mean {close[0]!r}?") from error
        raise OrdinateError(f"{error}; the package has {', '.join(sorted(names()))}") from error
    last = step if step is not None else (run.checkpoints() or [0])[-1]
    averaged = bool(run.record().get("averaged"))
    return _open_trained(run.id, run.path, run.recipe, lambda: load_model(run, step), last, averaged)


def _open_packaged(card: Card, step: int | None) -> Opened:
    if step not in (None, card.step):
        raise OrdinateError(f"the package has {card.name} at step {card.step} only: leave out --step")
    assert card.recipe is not None
    path = FOLDER / card.name
    return _open_trained(
        card.name, path, card.recipe, lambda: open_model(card.name), card.step, card.averaged
    )


def _open_trained(
    name: str, path: Path, settings: dict[str, Any], load: Callable[[], Model], step: int, averaged: bool
) -> Opened:
    recipe, evaluation = Recipe.parse(settings), dict(settings.get("evaluation", {}))
    note = str(seeds_note(1))
    return Opened(name, path, recipe.model.name, recipe.task, evaluation, load, step, note, averaged)


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
        lambda: load_compiled(folder),
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
