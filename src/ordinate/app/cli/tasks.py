"""Tasks from the command line: a name, options with --set, values of axes with --axis."""

from collections.abc import Iterable

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.sweep import Axis
from ordinate.lab.tasks import TASKS, make_task
from ordinate.lab.tasks.base import Task
from ordinate.lab.training.recipe import apply_change


def chosen_task(name: str, options: Iterable[str] | None, length: int | None = None) -> Task:
    """Return the task of this name with options such as `digits=3`; bad ones are refused in one line.

    A length becomes the option of that name where a task has one: some, such as `path`, have no other length.

    >>> chosen_task("multiplication", ["multiplier=3"]).multiplier
    3
    """
    table: dict[str, object] = {}
    for option in options or ():
        key, equals, _ = option.partition("=")
        if not equals or not all(key.strip().split(".")):
            raise OrdinateError(f"--set {option!r} is not understood: write --set digits=3")
        if key.strip() == "name":
            raise OrdinateError(f"--set {option!r} would be another task: write its name after the command")
        apply_change(table, option)
    if length is not None and name in TASKS and "length" in TASKS[name].model_fields:
        table["length"] = length
    return make_task(name, **table)


def axis_values(task: Task, axes: Iterable[str] | None) -> dict[str, float]:
    """Read `name=value` for axes of the task."""
    values = {}
    for text in axes or ():
        axis = Axis.parse(text)
        if axis.name not in task.axes:
            raise OrdinateError(
                f"task {task.name!r} has no axis {axis.name!r}: {nearest(axis.name, task.axes)}"
            )
        if len(axis.values) > 1:
            raise OrdinateError(
                f"--axis {text!r} names several values: write one, such as {axis.name}={axis.values[0]:g}"
            )
        values[axis.name] = axis.values[0]
    return values


def whole_length(value: float) -> int:
    """A length given as a value of an axis."""
    if value != int(value):
        raise OrdinateError(f"length {value:g} is not a whole number: write --length {int(value)}")
    return int(value)
