"""`ordinate evaluate`: the errors of a run along axes of its task."""

from pathlib import Path
from typing import Annotated

import typer

from ordinate.cli.options import Json, Seed, StoreFolder
from ordinate.errors import OrdinateError


def evaluate(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Id of a run, the beginning of one, or its folder.")
    ],
    axes: Annotated[
        list[str] | None,
        typer.Option(
            "--axis", metavar="NAME=FIRST:LAST[:STEP]", help="May be repeated; default as in the recipe."
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
    """Measure a trained model along axes, in distribution always beside out of distribution.

    Runs measured with the same seed meet the same samples.
    """
    import torch

    from ordinate.cli.output import print_json, print_table, say
    from ordinate.cli.summary import seeds_note
    from ordinate.evaluation.sweep import Axis, measure, test_set
    from ordinate.figures.numbers import show_number
    from ordinate.runs import Store
    from ordinate.training import Recipe, load_model

    torch.set_num_threads(1)
    found = Store(store or Path("runs")).find(run)
    document = found.recipe
    wanted = dict(document.get("evaluation", {}))
    if axes:
        wanted["axes"] = {}
        for axis in map(Axis.parse, axes):
            wanted["axes"].setdefault(axis.name, []).extend(axis.values)
    if count is not None:
        wanted["count"] = count
    recipe = Recipe.parse({**document, "evaluation": wanted})  # refuses axes and counts that cannot be
    task, evaluation = recipe.task, recipe.evaluation
    places = [(axis, value) for axis, values in evaluation.axes.items() for value in values]
    if not places:
        raise OrdinateError(f"the recipe of {found.id} names no axis: add --axis {task.axes[-1]}=1:10")
    model = load_model(found, step)

    def at(axis: str, value: float) -> dict[str, object]:
        tests = test_set(task, axis, value, count=evaluation.count, seed=seed)
        relative, absolute = evaluation.relative, evaluation.absolute
        return measure(model, task, tests, relative=relative, absolute=absolute)[0].to_dict()

    points = [at(axis, value) for axis, value in places]
    if not any(point["in_distribution"] for point in points) and "scale" in task.axes:
        points.insert(0, at("scale", 1.0))
    step = found.checkpoints()[-1] if step is None else step
    if json:
        facts = {"run": found.id, "path": str(found.path), "task": task.name, "model": recipe.model.name}
        numbers = {"step": step, "count": evaluation.count, "seed": seed, "note": seeds_note(1)}
        print_json({**facts, **numbers, "points": points})
        return
    headers = [
        "point",
        "distribution",
        "mean squared error",
        "relative error",
        "share of variance",
        "accuracy",
    ]
    measured = ("mse", "relative_error", "variance_share", "accuracy")
    rows = [
        [
            f"{point['axis']}={point['value']:g}",
            "in" if point["in_distribution"] else "out",
            *(show_number(point[key]) for key in measured),  # type: ignore[arg-type]
        ]
        for point in points
    ]
    print_table(headers, rows, title=f"{found.id} at step {step}, {evaluation.count} samples a point")
    say(str(seeds_note(1)))
