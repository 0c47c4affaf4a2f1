"""`ordinate evaluate`: the scores of a run along axes and by slices of its task."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Json, ModelName, Seed, StoreFolder
from ordinate.errors import OrdinateError

if TYPE_CHECKING:
    from ordinate.lab.evaluation import Point
    from ordinate.lab.tasks import Task
    from ordinate.models import Model


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
    step: Annotated[int | None, typer.Option(help="Step of the checkpoint; default the last.")] = None,
    seed: Seed = 0,
    store: StoreFolder = None,
    json: Json = False,
) -> None:
    """Measure a trained or compiled model along axes, in distribution always beside out of distribution.

    Runs measured with the same seed meet the same samples.
    """
    import torch

    from ordinate.app.cli.opened import open_model
    from ordinate.app.cli.output import print_json, print_table, say
    from ordinate.lab.evaluation.points import metric_of_task
    from ordinate.lab.evaluation.sweep import Axis, measure, test_set, trained_point
    from ordinate.lab.report.numbers import show_number
    from ordinate.lab.runs import Store

    torch.set_num_threads(1)
    found = open_model(run, Store(store or Path("runs")), step)
    wanted = found.evaluation
    if axes or by:
        wanted["axes"] = {}
        for axis in map(Axis.parse, axes or ()):
            wanted["axes"].setdefault(axis.name, []).extend(axis.values)
    wanted |= {key: value for key, value in (("count", count), ("length", length)) if value is not None}
    task, evaluation = found.task, found.measured(wanted)  # refuses axes and counts that cannot be
    places = [(axis, value) for axis, values in evaluation.axes.items() for value in values]
    if not places and not by:
        raise OrdinateError(f"the recipe of {found.id} names no axis: add --axis {_example(task)}")
    model = found.load()

    def at(axis: str, value: float, length: int | None) -> "Point":
        tests = test_set(task, axis, value, count=evaluation.count, seed=seed, length=length)
        relative, absolute = evaluation.relative, evaluation.absolute
        return measure(model, task, tests, relative=relative, absolute=absolute)[0]

    points = [at(axis, value, evaluation.length) for axis, value in places]
    inside = trained_point(task)
    if not any(point.in_distribution and point.axis in (inside[0], "length") for point in points):
        points.insert(0, at(*inside, None))
    slices = _slices(model, task, by, evaluation.length, evaluation.count, seed) if by else []
    if json:
        facts = {"run": found.id, "path": str(found.path), "task": task.name, "model": found.kind}
        numbers = {"step": found.step, "averaged": found.averaged, "count": evaluation.count, "seed": seed}
        sliced = {"slices": slices} if by else {}
        measured = [point.to_dict() for point in points]
        print_json({**facts, **numbers, "note": found.note, "points": measured, **sliced})
        return
    at_step = "" if found.step is None else f" at step {found.step}"
    weights = ", averaged weights" if found.averaged else ""
    title = f"{found.id}{at_step}{weights}, {evaluation.count} samples a point"
    columns = points[0].columns
    rows = [
        [
            f"{point.axis}={point.value:g}",
            "in" if point.in_distribution else "out",
            *(show_number(getattr(point, field)) for field in columns.values()),
        ]
        for point in points
    ]
    print_table(["point", "distribution", *columns], rows, title=title)
    for table in slices:
        distribution = "in" if table["in_distribution"] else "out of"
        print_table(
            [table["slice"], "samples", metric_of_task(task)],
            [[row["value"], row["count"], show_number(row["score"])] for row in table["rows"]],
            title=f"by {table['slice']} at length {table['length']}, {distribution} distribution",
        )
    say(found.note)


def _example(task: "Task") -> str:
    """An axis as a person might write it."""
    return "scale=1:10" if "scale" in task.axes else f"{task.axes[0]}={max(task.lengths())}"


def _slices(
    model: "Model", task: "Task", by: str, length: int | None, count: int, seed: int
) -> list[dict[str, Any]]:
    """One table for the length asked for, and one for the trained length beside it."""
    from ordinate.lab.evaluation.slices import sliced
    from ordinate.lab.evaluation.sweep import test_set

    trained = max(task.lengths())
    tables = []
    for at in dict.fromkeys((trained if length is None else length, trained)):
        tests = test_set(task, "length", float(at), count=count, seed=seed)
        rows = [part.to_dict() for part in sliced(model, task, tests, by)]
        facts = {"slice": by, "length": at, "in_distribution": tests.in_distribution}
        tables.append({**facts, "rows": rows})
    return tables
