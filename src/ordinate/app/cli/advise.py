"""`ordinate advise`: the kind of memory that a task has, and the model that it wants."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Seed, TaskOptions, chosen_task
from ordinate.app.cli.output import Result, Table
from ordinate.errors import OrdinateError

if TYPE_CHECKING:
    from ordinate.lab.tasks.base import Task


def advise(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="Name of a task; see ordinate tasks.")
    ] = None,
    function: Annotated[
        str | None,
        typer.Option(
            metavar="FILE:NAME",
            help="A function of a Python file instead: (batch, token) numbers in and out.",
        ),
    ] = None,
    options: TaskOptions = None,
    seed: Seed = 0,
) -> Result:
    """Measure which kind of memory a task has, and say what depth, heads, width and bias it wants.

    Every input token is replaced by another draw, and the answer watched. A function is asked with tokens of -1 and 1;
    write --set tokens=gaussian or ternary for others, and --set length=64 for lags beyond 16.
    """
    import torch

    from ordinate.app.cli.progress import SearchProgress
    from ordinate.papers.theory.advice import advise as lines_of
    from ordinate.papers.theory.advice import find_memory

    torch.set_num_threads(1)
    chosen = _chosen(task, function, options)
    with SearchProgress(f"advise {chosen.name}") as progress:
        memory = find_memory(chosen, seed=seed, report=progress.report)
    lines, name = lines_of(memory), task or function
    document = {
        "task": name,
        "seed": seed,
        "memory": memory.to_dict(),
        "advice": [line.to_dict() for line in lines],
    }
    rows = [[line.what, line.text, line.evidence, line.theorem] for line in lines]
    table = Table(["", "advice", "evidence", "because"], rows)
    return Result(document, [f"{name}: {memory.kind}", memory.summary, table])


def _chosen(task: str | None, function: str | None, options: list[str] | None) -> "Task":
    """The task, or the function as one."""
    from ordinate.lab.training.recipe import apply_change
    from ordinate.papers.theory.advice import function_task

    if (task is None) == (function is None):
        raise OrdinateError(
            "write a task or a function: ordinate advise sum, or ordinate advise --function my.py:f"
        )
    if task is not None:
        return chosen_task(task, options)
    assert function is not None
    table: dict[str, Any] = {}
    for option in options or ():
        key, equals, _ = option.partition("=")
        if not equals or key.strip() not in ("length", "tokens"):
            raise OrdinateError(
                f"--set {option!r} is no option of a function: write length=32 or tokens=gaussian"
            )
        apply_change(table, option)
    return function_task(function, **table)
