"""`ordinate sample`: inputs and exact answers as a person would read them."""

from typing import Annotated, Any

import typer

from ordinate.cli.options import Json, Seed
from ordinate.errors import OrdinateError

MOST = 1_000_000
"""Numbers that one call prints at most."""


def sample(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Name of a task; see ordinate tasks.")],
    length: Annotated[int, typer.Option(help="Numbers in a sequence.")] = 8,
    count: Annotated[int, typer.Option(help="How many sequences.")] = 5,
    scale: Annotated[float, typer.Option(help="Width of the range, 1 as in training.")] = 1.0,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Show samples of a task: the input and its exact answer."""
    from ordinate.cli.output import print_json, print_table
    from ordinate.seeds import generator
    from ordinate.tasks import make_task

    chosen = make_task(task, length=length)
    each = len(chosen.coordinates(length)) * (chosen.features + chosen.outputs)
    if count * each > MOST:
        raise OrdinateError(f"count {count} is too many to print: write --count {MOST // each} or fewer")
    batch = chosen.sample(count, generator=generator(seed, "sample"), length=length, scale=scale)
    if not json:
        rows = chosen.show(batch)
        print_table(list(rows[0]), [list(row.values()) for row in rows])
        return
    pairs = zip(batch.input, batch.target, strict=True)
    print_json(
        {
            "task": chosen.name,
            "length": length,
            "count": count,
            "scale": scale,
            "seed": seed,
            "samples": [{"input": _numbers(x), "target": _numbers(y)} for x, y in pairs],
        }
    )


def _numbers(tokens: Any) -> Any:
    """One number a token where tokens are one wide, else one list a token."""
    return (tokens[:, 0] if tokens.shape[-1] == 1 else tokens).tolist()
