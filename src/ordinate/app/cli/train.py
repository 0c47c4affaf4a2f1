"""`ordinate train`: a recipe with one or several seeds."""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from ordinate.app.cli.output import Result, Table, note
from ordinate.errors import OrdinateError
from ordinate.lab.report.numbers import show_interval, show_number

ABREAST = 8
"""Seeds side by side in one table."""


def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="A name of `ordinate recipes`, or a TOML file.")
    ],
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="A.B=C", help="Change a setting; may be repeated.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, max=10_000, help="Train the seeds 0 to SEEDS - 1 side by side.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Train this one seed; default 0.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of runs.")] = Path("runs"),
    init: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Start from the weights of a compiled program (--dense), or of a run."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with runs that were stopped.")] = False,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write TensorBoard files too; needs ordinate\\[track].")
    ] = None,
    mlflow: Annotated[
        str | None,
        typer.Option(
            metavar="URI", help="Tell MLflow too: http://HOST:5000, sqlite:///FILE; needs ordinate\\[mlflow]."
        ),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of torch; one is best on a busy machine.")] = 1,
) -> Result | None:
    """Train a recipe, and show the errors of every seed in and out of distribution."""
    if seeds is not None and seed is not None:
        raise OrdinateError("--seeds and --seed exclude each other: write --seeds 3, or --seed 7")

    import torch

    from ordinate.app.cli.progress import StepProgress
    from ordinate.lab.evaluation.claims import seeds_note
    from ordinate.lab.evaluation.points import metric_of_task
    from ordinate.lab.runs import Store, keep_freed_memory
    from ordinate.lab.runs.record import check_seed
    from ordinate.lab.training import Recipe, starting_from
    from ordinate.lab.training import train as train_seeds
    from ordinate.lab.training.machine import World
    from ordinate.lab.training.sinks import Feed, open_feed

    check_seed(seed or 0)
    first = World.here().first
    torch.set_num_threads(threads)
    keep_freed_memory()
    chosen = Recipe.read(recipe, changes or ())
    if init is not None:
        chosen = starting_from(chosen, init, Store(out))
    numbers = range(seeds) if seeds is not None else range(seed or 0, (seed or 0) + 1)
    feed_of: AbstractContextManager[Feed | None] = nullcontext()
    if first and (tensorboard or mlflow):
        feed_of = open_feed(chosen, numbers, lambda line: note(f"warning: {line}"), tensorboard, mlflow)
    with StepProgress(chosen.name) as progress, feed_of as feed:

        def report(**facts: Any) -> None:
            if first:  # of the processes of one training, one speaks
                progress.report(**facts)
                if feed is not None:
                    feed.report(**facts)

        done = train_seeds(chosen, numbers, store=Store(out), resume=resume, report=report)
        if feed is not None:
            feed.end({run.seed: run.status for run in done})
    if not first:
        return None
    facts = [run.facts() for run in done]
    failed = [run["seed"] for run in facts if run["status"] == "failed"]
    if not progress.reported and not failed:
        note("nothing was left to train: these runs were done before")
    document = {
        "recipe": chosen.name,
        "task": chosen.task.name,
        "model": chosen.model.name,
        "store": str(out),
        "seeds": list(numbers),
        "failed": failed,
        "note": seeds_note(len(done)),
        "runs": facts,
    }
    return Result(document, _shown(facts, metric_of_task(chosen.task.name)), failed=len(failed) == len(done))


def _shown(facts: Sequence[dict[str, Any]], metric: str) -> Iterator[Table | str]:
    """Scores (rows: points; columns: seeds), what failed, and the folders."""
    from ordinate.lab.evaluation.claims import FEWEST_SEEDS, seeds_note
    from ordinate.lab.evaluation.statistics import summarise

    points = list(dict.fromkeys(name for f in facts for name in f["scores"])) or ["validation"]
    for first in range(0, len(facts), ABREAST):
        part = facts[first : first + ABREAST]
        headers = [metric, *(f"seed {f['seed']}" for f in part)]
        rows = [[point] for point in points]
        for row, point in zip(rows, points, strict=True):
            for f in part:
                row.append("failed" if f["status"] == "failed" else show_number(f["scores"].get(point)))
        if first + ABREAST >= len(facts) and len(facts) >= FEWEST_SEEDS:
            headers.append("median [95 % interval]")
            for row, point in zip(rows, points, strict=True):
                values = [float(f["scores"].get(point, math.nan)) for f in facts]
                row.append(show_interval(summarise(values).interval))
        yield Table(headers, rows)
    for f in facts:
        if f["status"] == "failed":
            yield f"seed {f['seed']} failed: {f['error']}"
    seen = max((f["samples_seen"] for f in facts if f["samples_seen"] is not None), default=None)
    yield f"{show_number(facts[0]['parameters'])} parameters, {show_number(seen)} samples seen"
    if any(f["averaged"] for f in facts):
        yield "measured with averaged weights"
    if note := seeds_note(len(facts)):
        yield note
    for f in facts:
        yield f"{f['status']:8} {f['path']}"
