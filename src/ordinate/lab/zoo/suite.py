"""The suite: the same samples for every model of a task, so that a card can be checked by measuring again.

A model is scored as trained, at 2, 4 and 10 times its trained length and, where the task has one, at 2 and 10 times its
range of values. What the model refuses is said, not left out.
"""

from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import Model, measure, test_set, trained_point
from ordinate.lab.tasks import Task

COUNT, SEED = 200, 0
TIMES = {"length": (2, 4, 10), "scale": (2, 10)}
"""Axes of the suite, and how many times as far as in training."""
MOST_TOKENS = 4096
"""Of a sequence."""


def places(task: Task) -> list[tuple[str, float]]:
    """The points of a task's suite, in distribution first.

    >>> from ordinate.lab.tasks import make_task
    >>> places(make_task("addition"))
    [('length', 5.0), ('length', 10.0), ('length', 20.0), ('length', 50.0)]
    """
    found = [trained_point(task)]
    for axis, times in TIMES.items():
        if axis in task.axes:
            first = max(task.lengths()) if axis == "length" else 1
            found += [(axis, float(first * factor)) for factor in times]
    return found


def score(model: Model, task: Task) -> list[dict[str, Any]]:
    """Measure a model on its suite: a point each, or what it said where it refused."""
    found = []
    for axis, value in places(task):
        try:
            if axis == "length" and (tokens := len(task.coordinates(int(value)))) > MOST_TOKENS:
                raise OrdinateError(f"{tokens} tokens are more than the {MOST_TOKENS} of a suite")
            tests = test_set(task, axis, value, count=COUNT, seed=SEED)
            found.append(measure(model, task, tests)[0].to_dict())
        except OrdinateError as error:
            found.append({"axis": axis, "value": value, "refused": str(error)})
    return found


def differences(now: list[dict[str, Any]], then: list[dict[str, Any]], within: float = 1e-3) -> list[str]:
    """Where two scores of a suite are apart by more than rounding on another machine explains."""
    before = {(point["axis"], point["value"]): point for point in then}
    apart = []
    for point in now:
        name = f"{point['axis']}={point['value']:g}"
        other = before.pop((point["axis"], point["value"]), None)
        if other is None or ("refused" in point) != ("refused" in other):
            apart.append(name)
        elif "refused" not in point:
            keys = [key for key in ("accuracy", "mse") if key in point]
            allowed = {key: within * max(1.0, abs(other[key])) for key in keys}
            # One sample on the border of being right may fall to the other side.
            allowed["accuracy"] += 1 / COUNT
            apart += [f"{name} {key}" for key in keys if not abs(point[key] - other[key]) <= allowed[key]]
    return apart + [f"{axis}={value:g}" for axis, value in before]
