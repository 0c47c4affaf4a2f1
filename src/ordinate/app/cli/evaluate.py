"""`ordinate evaluate`: the scores of a run along axes and by slices of its task."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.app.cli.options import ModelName, Seed, Step, StoreFolder
from ordinate.app.cli.output import Result, Table
from ordinate.lab.report.numbers import show_number

if TYPE_CHECKING:
    from ordinate.lab.zoo.opened import Scores


def evaluate(
    run: ModelName,
    axes: Annotated[
        list[str] | None,
        typer.Option(
            "--axis", metavar="NAME=FIRST:LAST[:STEP]", help="May be repeated; default as in the recipe."
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--slice", metavar="NAME", help="Score by a property of the samples.")
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(
            min=1, help="Length for slices, and for axes other than the length; default as trained."
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="Samples at every point; default as in the recipe.")
    ] = None,
    step: Step = None,
    seed: Seed = 0,
    store: StoreFolder = None,
) -> Result:
    """Measure a trained or compiled model along axes, in distribution always beside out of distribution.

    Runs measured with the same seed meet the same samples.
    """
    import torch

    from ordinate.lab.evaluation.sweep import Axis
    from ordinate.lab.runs import Store
    from ordinate.lab.zoo.opened import evaluate as measure
    from ordinate.lab.zoo.opened import find_model

    torch.set_num_threads(1)
    found = find_model(run, Store(store or Path("runs")), step)
    wanted: dict[str, list[float]] = {}
    for axis in map(Axis.parse, axes or ()):
        wanted.setdefault(axis.name, []).extend(axis.values)
    scores = measure(found, wanted, by, count=count, length=length, seed=seed)
    return Result(scores.to_dict(), _shown(scores))


def _shown(scores: "Scores") -> Iterator[Table | str]:
    from ordinate.lab.evaluation.points import metric_of_task

    found = scores.model
    at_step = "" if found.step is None else f" at step {found.step}"
    weights = ", averaged weights" if found.averaged else ""
    columns = scores.points[0].columns
    rows = [
        [
            f"{point.axis}={point.value:g}",
            "in" if point.in_distribution else "out",
            *(show_number(getattr(point, field)) for field in columns.values()),
        ]
        for point in scores.points
    ]
    title = f"{found.id}{at_step}{weights}, {scores.count} samples a point"
    yield Table(["point", "distribution", *columns], rows, title)
    for table in scores.slices or ():
        distribution = "in" if table.in_distribution else "out of"
        yield Table(
            [table.name, "samples", metric_of_task(found.task)],
            [[row.value, row.count, show_number(row.score)] for row in table.rows],
            f"by {table.name} at length {table.length}, {distribution} distribution",
        )
    yield found.note
