"""Slices: the score of a model by a property of the samples that makes some of them harder."""

from dataclasses import asdict, dataclass
from typing import Any

import torch

from ordinate.errors import OrdinateError, nearest
from ordinate.evaluation.sweep import Model, TestSet, measure
from ordinate.tasks.task import Task


@dataclass(frozen=True)
class Slice:
    """The samples with one value of a slice: how many there are, and their score."""

    value: int
    count: int
    score: float
    """Exact match of symbols, mean squared error of numbers."""

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return asdict(self)


def sliced(model: Model, task: Task, tests: TestSet, name: str) -> list[Slice]:
    """Measure a model on a test set by the value of a slice, smallest first.

    >>> from ordinate.evaluation.sweep import test_set
    >>> from ordinate.tasks import make_task
    >>> task = make_task("addition")
    >>> tests = test_set(task, "length", 5.0, count=1000, seed=0)
    >>> perfect = lambda x, c: torch.nn.functional.one_hot(task.reference(x, c), task.outputs).float()
    >>> [(s.value, s.score) for s in sliced(perfect, task, tests, "cascade")][:3]
    [(0, 1.0), (1, 1.0), (2, 1.0)]
    """
    if name not in task.slices:
        known = nearest(name, task.slices) if task.slices else "it has none"
        raise OrdinateError(f"task {task.name!r} has no slice {name!r}: {known}")
    _, errors = measure(model, task, tests)
    values = torch.cat([task.slice(name, batch) for batch in tests.batches])
    numbers = tests.batches[0].target.is_floating_point()
    found = []
    for value in values.unique().tolist():
        error = float(errors[values == value].double().mean())
        found.append(Slice(value, int((values == value).sum()), error if numbers else 1 - error))
    return found
