"""`ordinate sample`: inputs and exact answers as a person would read them."""

from typing import Annotated

import typer

from ordinate.app.cli.options import Axes, Seed, TaskOptions, axis_values, chosen_task, whole_length
from ordinate.app.cli.output import Result, Table
from ordinate.errors import OrdinateError

MOST = 1_000_000
"""Numbers or symbols that one call prints at most."""


def sample(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Name of a task; see ordinate tasks.")],
    length: Annotated[
        int | None, typer.Option(help="Numbers in a sequence, digits of a number; default the task's own.")
    ] = None,
    count: Annotated[int, typer.Option(help="How many samples.")] = 5,
    scale: Annotated[
        float | None, typer.Option(help="Width of the range of numbers, 1 as in training.")
    ] = None,
    text: Annotated[
        str | None,
        typer.Option("--input", metavar="TEXT", help="Answer this input, written as samples are shown."),
    ] = None,
    axes: Axes = None,
    options: TaskOptions = None,
    seed: Seed = 0,
) -> Result:
    """Show samples of a task: the input and its exact answer."""
    from ordinate.lab.tasks.samples import answered, drawn

    chosen = chosen_task(task, options, length)
    given = axis_values(chosen, [*(axes or ()), *([] if scale is None else [f"scale={scale}"])])
    if "length" in given:
        length = whole_length(given.pop("length"))
    if text is None:
        one = drawn(chosen, 1, length=length, seed=seed, **given).batch
        each = one.input.numel() + one.target.numel()
        if count * each > MOST:
            raise OrdinateError(f"count {count} is too many to print: write --count {MOST // each} or fewer")
        samples = drawn(chosen, count, length=length, seed=seed, **given)
    elif given:
        raise OrdinateError("--input is answered as it is: leave --axis and --scale out")
    else:
        samples = answered(chosen, text)
    rows = samples.rows
    return Result(samples.to_dict(), [Table(list(rows[0]), [list(row.values()) for row in rows])])
