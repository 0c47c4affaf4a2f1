"""`ordinate tasks`, `encodings`, `models` and `relations`: what there is, and what one relation looks like."""

from typing import Annotated, Any

import typer

from ordinate.app.cli.options import TaskOptions, chosen_task
from ordinate.app.cli.output import Result, Table
from ordinate.errors import OrdinateError
from ordinate.lab.toml import parse_toml


def tasks() -> Result:
    """List the tasks: name, family, axes, one line."""
    from ordinate.kinds import describe
    from ordinate.lab.tasks import TASKS

    found = [{**describe(kind), "family": kind.family, "axes": list(kind.axes)} for kind in TASKS.values()]
    return _list("tasks", found, "name", "family", "axes", "summary")


def encodings() -> Result:
    """List the positional encodings, and what each does at positions never trained."""
    from ordinate.encodings import ENCODINGS
    from ordinate.kinds import describe

    found = [
        {**describe(kind), "beyond": kind.extrapolation, "source": kind.source} for kind in ENCODINGS.values()
    ]
    return _list("encodings", found, "name", "summary", "beyond", "source")


def models() -> Result:
    """List the kinds of models, with the settings a recipe can give."""
    from ordinate.kinds import describe
    from ordinate.lab.architectures import MODELS

    return _list("models", [describe(kind) for kind in MODELS.values()], "name", "summary", "options")


def recipes(
    measure: Annotated[
        bool, typer.Option("--time", help="Time a step of each on this machine, instead of the stored times.")
    ] = False,
) -> Result:
    """List the recipes of the package, which `ordinate train NAME` takes: one line, and the time a seed needs."""
    from ordinate.app.cli.progress import SearchProgress, duration
    from ordinate.lab.training.price import measure_times
    from ordinate.lab.training.shipped import about, shipped, times

    if measure:
        with SearchProgress("recipes") as progress:
            found = measure_times(progress.report)
    else:
        found = times()
    hours, machine = found["hours"], found["environment"]["cpu"]
    rows = [
        {"name": name, "summary": about(path), "hours": hours.get(name), "path": str(path)}
        for name, path in shipped().items()
    ]
    shown = [
        [row["name"], "?" if row["hours"] is None else duration(3600 * row["hours"]), row["summary"]]
        for row in rows
    ]
    where = "this machine" if measure else machine
    title = f"time of one seed on one thread of {where}"
    return Result({**found, "recipes": rows}, [Table(["recipe", "time", "what"], shown, title)])


def relations(
    shown: Annotated[
        str | None, typer.Option("--show", metavar="TOML", help="Show this relation at a task's tokens.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="The task whose tokens --show uses.")] = None,
    length: Annotated[
        int | None, typer.Option(help="Its length for --show; default the longest trained one.")
    ] = None,
    options: TaskOptions = None,
) -> Result:
    """List the relations that a recipe can name, or show the classes of one at the tokens of a task."""
    from ordinate.kinds import choose, describe
    from ordinate.relations import RELATIONS, BoundRelation

    if shown is None:
        if task is not None or length is not None or options:
            raise OrdinateError(
                "--task, --length and --set go with --show: write --show '{kind=\"aligned\"}'"
            )
        found = [describe(kind) for kind in RELATIONS.values()]
        return _list("relations", found, "name", "summary", "options")
    if task is None:
        raise OrdinateError("--show needs the tokens of a task: add --task addition")

    relation = choose(read_toml(shown), RELATIONS, "relation")
    chosen = chosen_task(task, options, length)
    length = max(chosen.lengths()) if length is None else length
    coordinates = chosen.coordinates(length)
    text = relation.show(coordinates)

    def document() -> dict[str, Any]:
        bound = BoundRelation(relation, [coordinates])
        return {
            "relation": {"text": str(relation), "recipe": relation.model_dump(mode="json")},
            "task": chosen.name,
            "length": length,
            "tokens": len(coordinates),
            "classes": bound.names,
            "attended": len(bound.pattern(coordinates).query),
            "picture": text,
        }

    return Result(document, [text])


def read_toml(text: str) -> Any:
    """Read a value as in a recipe; a bare word is a name.

    >>> read_toml('{kind = "window", back = 3}'), read_toml("aligned")
    ({'kind': 'window', 'back': 3}, 'aligned')
    """
    if text.strip().replace("-", "").isalnum():
        return text.strip()
    try:
        return parse_toml(f"value = {text}")["value"]
    except ValueError as error:
        raise OrdinateError(
            f"--show {text!r} is not a TOML value: {error}; write --show '{{kind=\"aligned\"}}'"
        ) from None


def _list(title: str, found: list[dict[str, Any]], *columns: str) -> Result:
    """Kinds as a table of some columns, or all there is as JSON under a title."""
    rows = [
        [row[name] if isinstance(row[name], str) else ", ".join(row[name]) for name in columns]
        for row in found
    ]
    return Result({title: found}, [Table(columns, rows)])
