"""`ordinate advise`: the kind of memory that a task has, and the model that it wants."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Json, Seed, TaskOptions
from ordinate.errors import OrdinateError, explain

if TYPE_CHECKING:
    from ordinate.lab.tasks.base import Task
    from ordinate.papers.theory.advice import Memory


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
    json: Json = False,
) -> None:
    """Measure which kind of memory a task has, and say what depth, heads, width and bias it wants.

    Every input token is drawn anew, and the answer watched. A function is asked with tokens of -1 and 1; write
    --set tokens=gaussian or ternary for others, and --set length=64 for lags beyond 16.
    """
    import torch

    from ordinate.app.cli.output import print_json, print_table, say
    from ordinate.app.cli.progress import SearchProgress
    from ordinate.papers.theory.advice import advise as lines_of
    from ordinate.papers.theory.advice import find_memory

    torch.set_num_threads(1)
    chosen = _chosen(task, function, options)
    with SearchProgress(f"advise {chosen.name}") as progress:
        memory = find_memory(chosen, seed=seed, report=progress.report)
    lines = lines_of(memory)
    if json:
        print_json(
            {
                "task": task or function,
                "seed": seed,
                "memory": memory.to_dict(),
                "advice": [line.to_dict() for line in lines],
            }
        )
        return
    say(f"{task or function}: {memory.kind}")
    say(describe_memory(memory))
    print_table(
        ["", "advice", "evidence", "because"],
        [[line.what, line.text, line.evidence, line.theorem] for line in lines],
    )


def describe_memory(memory: "Memory") -> str:
    """What was measured, in a line."""
    lengths = " and ".join(map(str, memory.lengths))
    used = " and ".join(f"{used} of {keys}" for used, keys in zip(memory.used, memory.keys, strict=True))
    sizes = " and ".join(f"{size:.1f}" for size in memory.sizes)
    return (
        f"at length {lengths}: {used} tokens ever count, {sizes} in one sample, in the mean; "
        f"{memory.samples} samples, every token drawn anew"
    )


def _chosen(task: str | None, function: str | None, options: list[str] | None) -> "Task":
    """The task, or the function as one."""
    from pydantic import ValidationError

    from ordinate.app.cli.tasks import chosen_task
    from ordinate.lab.training.recipe import apply_change
    from ordinate.papers.theory.advice import FunctionTask, load_function

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
    found, file = load_function(function)
    try:
        return FunctionTask(function=found, file=file, **table)
    except ValidationError as error:
        raise explain(error, "function", FunctionTask) from None
