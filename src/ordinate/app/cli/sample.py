"""`ordinate sample`: inputs and exact answers as a person would read them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Axes, Json, Seed, TaskOptions
from ordinate.errors import OrdinateError

if TYPE_CHECKING:
    from ordinate.lab.tasks.batch import Batch
from ordinate.lab.tasks.base import Task

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
    json: Json = False,
) -> None:
    """Show samples of a task: the input and its exact answer."""
    from ordinate.app.cli.output import print_json, print_table
    from ordinate.app.cli.tasks import axis_values, chosen_task, whole_length

    chosen = chosen_task(task, options, length)
    given = axis_values(chosen, [*(axes or ()), *([] if scale is None else [f"scale={scale}"])])
    if "length" in given:
        length = whole_length(given.pop("length"))
    if text is None:
        length = max(chosen.lengths()) if length is None else length
        batch = _drawn(chosen, count, seed, length, given)
    elif given:
        raise OrdinateError("--input is answered as it is: leave --axis and --scale out")
    else:
        batch, count, length = chosen.parse(text), 1, max(chosen.lengths())
        if batch.coordinates != chosen.coordinates(length):
            length = max(batch.coordinates.ordinate) + 1
    rows = chosen.at(**given).show(batch)
    if not json:
        print_table(list(rows[0]), [list(row.values()) for row in rows])
        return
    facts: dict[str, Any] = {"task": chosen.name, "length": length, "count": count}
    facts |= {"scale": given.get("scale", 1.0)} if "scale" in chosen.axes else {"axes": given}
    if batch.input.is_floating_point():
        pairs = zip(batch.input, batch.target, strict=True)
        samples = [{"input": _numbers(x), "target": _numbers(y)} for x, y in pairs]
    else:
        samples = [{key: row[key] for key in ("input", "target")} for row in rows]
    print_json({**facts, "seed": seed, "samples": samples})


def _drawn(task: "Task", count: int, seed: int, length: int, given: dict[str, float]) -> "Batch":
    """Samples, no more than can be printed."""
    from ordinate.lab.seeds import generator

    one = task.sample(1, generator=generator(seed, "size"), length=length, **given)
    each = one.input.numel() + one.target.numel()
    if count * each > MOST:
        raise OrdinateError(f"count {count} is too many to print: write --count {MOST // each} or fewer")
    return task.sample(count, generator=generator(seed, "sample"), length=length, **given)


def _numbers(tokens: Any) -> Any:
    """One number a token where tokens are one wide, else one list a token."""
    return (tokens[:, 0] if tokens.shape[-1] == 1 else tokens).tolist()
