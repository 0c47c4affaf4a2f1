"""What parts of a model are worth: layers, heads and classes of pairs set to zero, and what is left of the accuracy.

    layer     nothing of its attention is added:             output = 0
    head      its values are zero                            v_j^h = 0 for all j
    class     its pairs bring nothing, in every layer        A_ij = 0 where class(i, j) = c; other weights stay

Nothing is trained again, and weights are not divided by what is left of their sum.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from torch import nn

from ordinate.lab.evaluation.points import NumberPoint, Point, SymbolPoint
from ordinate.lab.evaluation.sweep import measure, test_set, trained_point
from ordinate.lab.explain.parts import attention_parts, class_parts, run_without
from ordinate.lab.tasks.base import Task

Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Ablated:
    """One part set to zero: the share of samples that are still right, and the loss."""

    part: str
    kind: str
    """`layer`, `head` or `class`."""
    accuracy: float
    change: float
    """Of the accuracy, from that of the whole model."""
    loss: float
    """Cross-entropy of symbols, mean squared error of numbers."""


@dataclass(frozen=True)
class Ablation:
    """What every part is worth, measured on the same samples."""

    axis: str
    value: float
    count: int
    accuracy: float
    loss: float
    rows: tuple[Ablated, ...]

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        facts = {"axis": self.axis, "value": self.value, "count": self.count}
        whole = {"accuracy": self.accuracy, "loss": self.loss}
        return {**facts, "whole": whole, "rows": [asdict(row) for row in self.rows]}


def ablate(
    model: nn.Module,
    task: Task,
    *,
    length: int | None = None,
    count: int = 256,
    seed: int = 0,
    report: Report | None = None,
) -> Ablation:
    """Set every layer, head and class to zero in turn and measure again, at the trained length or at another.

    >>> from ordinate.lab.architectures import Positional
    >>> from ordinate.models import build_model
    >>> from ordinate.lab.tasks import make_task
    >>> task = make_task("sum", length=4)
    >>> found = ablate(build_model(Positional(layers=1), task, seed=0), task, count=10)
    >>> tuple(row.part for row in found.rows)
    ('layer 1', 'layer 1, head 1', 'layer 1, head 2')
    """
    axis, value = trained_point(task) if length is None else ("length", float(length))
    tests = test_set(task, axis, value, count=count, seed=seed)
    parts = [*attention_parts(model), *class_parts(model)]
    whole = measure(model, task, tests)[0]
    rows = []
    for number, part in enumerate(parts):
        left = measure(partial(run_without, model, part), task, tests)[0]
        rows.append(Ablated(part.name, part.kind, left.accuracy, left.accuracy - whole.accuracy, _loss(left)))
        if report is not None:
            report(number + 1, len(parts))
    return Ablation(axis, value, whole.count, whole.accuracy, _loss(whole), tuple(rows))


def _loss(point: Point) -> float:
    if isinstance(point, SymbolPoint):
        return point.cross_entropy
    assert isinstance(point, NumberPoint)
    return point.mse
