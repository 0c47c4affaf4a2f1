"""Slices: the score of a model by a property of the samples that makes some of them harder."""

from dataclasses import asdict, dataclass
from typing import Any

import torch

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.metrics import symbols_right
from ordinate.lab.evaluation.sweep import Model, TestSet, measure, outputs
from ordinate.lab.tasks.base import Task

PLACE = "place"
"""The slice of every task on symbols whose value belongs to a symbol, not to a sample: its place in the answer."""


@dataclass(frozen=True)
class Slice:
    """The samples (symbols, for `place`) with one value of a slice: how many there are, and their score."""

    value: int
    count: int
    score: float
    """Exact match of symbols, mean squared error of numbers."""

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return asdict(self)


def sliced(model: Model, task: Task, tests: TestSet, name: str) -> list[Slice]:
    """Measure a model on a test set by the value of a slice, smallest first.

    `place` is the ordinate of a symbol of the answer, for digits their significance; it is there for all tasks on
    symbols.

    >>> from ordinate.lab.evaluation.sweep import test_set
    >>> from ordinate.lab.tasks import make_task
    >>> task = make_task("addition")
    >>> tests = test_set(task, "length", 5.0, count=1000, seed=0)
    >>> perfect = lambda x, c: torch.nn.functional.one_hot(task.reference(x, c), task.outputs).float()
    >>> [(s.value, s.score) for s in sliced(perfect, task, tests, "cascade")][:3]
    [(0, 1.0), (1, 1.0), (2, 1.0)]
    """
    numbers = tests.batches[0].target.is_floating_point()
    there = task.slices if numbers else (*task.slices, PLACE)
    if name not in there:
        known = nearest(name, there) if there else "it has none"
        raise OrdinateError(f"task {task.name!r} has no slice {name!r}: {known}")
    if name == PLACE:
        return _by_place(model, task, tests)
    _, errors = measure(model, task, tests)
    values = torch.cat([task.slice(name, batch) for batch in tests.batches])
    found = []
    for value in values.unique().tolist():
        error = float(errors[values == value].double().mean())
        found.append(Slice(value, int((values == value).sum()), error if numbers else 1 - error))
    return found


def _by_place(model: Model, task: Task, tests: TestSet) -> list[Slice]:
    """Share of right symbols at every place of the answer."""
    right: dict[int, int] = {}
    count: dict[int, int] = {}
    with torch.no_grad():
        for output, batch, scored in outputs(model, task, tests):
            hits = symbols_right(output, batch.target, scored)
            places = batch.coordinates.ordinate_tensor[scored[:, 0]].tolist()
            for place, found in zip(places, hits.sum(0).tolist(), strict=True):
                right[place] = right.get(place, 0) + found
                count[place] = count.get(place, 0) + len(hits)
    return [Slice(place, count[place], right[place] / count[place]) for place in sorted(count)]
