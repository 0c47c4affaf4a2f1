"""Options that several commands share, under the same names and with the same meaning, and how they are read."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.toml import LARGEST

if TYPE_CHECKING:
    from ordinate.lab.tasks.base import Task

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
StoreFolder = Annotated[
    Path | None, typer.Option("--store", metavar="DIR", help="Folder of runs; default runs.")
]
ModelName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Id of a run or the beginning of one, its folder, that of a compiled program, or a model of the package.",
    ),
]
Step = Annotated[int | None, typer.Option(help="Step of the checkpoint; default the last.")]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST, help="Seed of the random numbers.")]
TaskOptions = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="OPTION=VALUE", help="An option of the task; may be repeated."),
]
Axes = Annotated[
    list[str] | None,
    typer.Option("--axis", metavar="NAME=VALUE", help="Value of an axis of the task; may be repeated."),
]
EngineName = Annotated[
    str, typer.Option("--engine", help="local: processes of this machine; ray: a Ray cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(help="Address of the Ray cluster, HOST:6379 or auto; default a new one on this machine."),
]
Workers = Annotated[int | None, typer.Option(help="Runs side by side; default one a core.")]


def chosen_task(name: str, options: Iterable[str] | None, length: int | None = None) -> "Task":
    """Return the task of this name with options such as `digits=3`; bad ones are refused in one line.

    A length becomes the option of that name where a task has one: some, such as `path`, have no other length.

    >>> chosen_task("multiplication", ["multiplier=3"]).multiplier
    3
    """
    from ordinate.lab.tasks import TASKS, make_task
    from ordinate.lab.training.recipe import apply_change

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


def axis_values(task: "Task", axes: Iterable[str] | None) -> dict[str, float]:
    """Read `name=value` for axes of the task."""
    from ordinate.lab.evaluation.sweep import Axis

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
    if not value.is_integer():
        raise OrdinateError(f"length {value:g} is not a whole number: write --length 8")
    return int(value)
