"""`ordinate runs`: list, filter, compare."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ordinate.app.cli.options import Json, StoreFolder
from ordinate.errors import OrdinateError

FACTS = ("seed", "status", "step", "parameters", "averaged", "seconds", "error")
"""What is compared of runs besides settings and scores."""


def runs(
    task: Annotated[str | None, typer.Option(help="Only runs of this task.")] = None,
    model: Annotated[str | None, typer.Option(help="Only runs of this kind of model.")] = None,
    status: Annotated[str | None, typer.Option(help="new, running, done or failed.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the recipe; * stands for anything.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="A.B=C", help="Only recipes with this setting; may be repeated."),
    ] = None,
    compare: Annotated[
        list[str] | None, typer.Option(metavar="RUN", help="Show how runs differ; give it twice or more.")
    ] = None,
    pack: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the runs that ended to one file.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="With --pack: all runs, with weights and states to go on from.")
    ] = False,
    unpack: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Bring the runs of such a file into the store.")
    ] = None,
    store: StoreFolder = None,
    json: Json = False,
) -> None:
    """List the runs of a store, compare some of them side by side, or let them travel as one file."""
    from ordinate.app.cli.archives import pack_runs, unpack_runs
    from ordinate.lab.runs import Store
    from ordinate.lab.runs.store import flatten

    if whole and pack is None:
        raise OrdinateError("--whole goes with --pack: write --pack FILE --whole")
    if unpack is not None:
        unpack_runs(Store(store or Path("runs")), unpack, json)
        return
    if store is not None and not store.is_dir():
        raise OrdinateError(f"there is no folder {str(store)!r}: write the --out of a training")
    there = Store(store or Path("runs"))
    if compare:
        _compare(there, compare, json)
        return
    _check(task, model, status)
    chosen = there.runs(task=task, model=model, status=status, name=name)
    for key, value in _conditions(where or ()).items():
        flat = [flatten(record.recipe) for record in chosen]
        known = {name for recipe in flat for name in recipe}
        if chosen and key not in known:
            raise OrdinateError(f"no recipe here has the setting {key!r}: {nearest(key, known)}")
        chosen = [
            record for record, recipe in zip(chosen, flat, strict=True) if recipe.get(key, ...) == value
        ]
    if pack is not None:
        pack_runs(there, chosen, pack, whole, json)
    else:
        _list(there, chosen, json)


def _check(task: str | None, model: str | None, status: str | None) -> None:
    """Refuse names that no run can have."""
    from ordinate.kinds import hint
    from ordinate.lab.runs.record import STATUSES
    from ordinate.lab.tasks import TASKS
    from ordinate.models import MODELS

    known: Iterable[str]
    for word, value, known in (
        ("task", task, TASKS),
        ("kind of model", model, MODELS),
        ("status", status, STATUSES),
    ):
        if value is not None and value not in known:
            raise OrdinateError(f"no {word} is called {value!r}: {hint(value, known)}")


def _conditions(where: Iterable[str]) -> dict[str, Any]:
    from ordinate.lab.training.recipe import apply_change

    conditions = {}
    for text in where:
        key, equals, value = text.partition("=")
        if not key.strip() or not equals:
            raise OrdinateError(f"--where {text!r} is not understood: write --where training.batch=256")
        document: dict[str, Any] = {}
        apply_change(document, f"value={value}")
        conditions[key.strip()] = document["value"]
    return conditions


def _list(store: Any, records: list[Any], json: bool) -> None:
    from ordinate.app.cli.output import note, print_json, print_table, say
    from ordinate.lab.evaluation.points import metric_of_task
    from ordinate.lab.report.numbers import show_number
    from ordinate.lab.runs import status_now

    records = [replace(r, status=status_now(store.root / r.id, r.status)) for r in records]
    if json:
        found = [{**vars(record), "path": str(store.root / record.id)} for record in records]
        print_json({"store": str(store.root), "runs": found})
        return
    if not records:
        note(f"no runs in {store.root}: ordinate train RECIPE makes some")
        return
    rows = [
        [
            record.id,
            record.task,
            record.model,
            record.status,
            f"{record.step or 0}/{record.steps or '?'}",
            metric_of_task(str(record.task)) + (" (averaged weights)" if _averaged(record.recipe) else ""),
            show_number(record.scores.get("validation")),
            _last(record.scores),
            (record.updated or "")[:16].replace("T", " "),
        ]
        for record in records
    ]
    headers = [
        *("run", "task", "model", "status", "step"),
        *("metric", "validation", "hardest", "updated (UTC)"),
    ]
    print_table(headers, rows)
    for record in records:
        if record.damaged:
            say(f"{record.id} cannot be read: {record.error}")


def _averaged(recipe: dict[str, Any]) -> bool:
    """Whether a recipe asks for averaged weights."""
    training = recipe.get("training")
    return isinstance(training, dict) and training.get("average") is not None


def _last(scores: dict[str, Any]) -> str:
    """The last point of the last axis, which recipes order from easy to hard."""
    from ordinate.lab.report.numbers import show_number

    points = [name for name in scores if name != "validation"]
    return f"{points[-1]}: {show_number(scores[points[-1]])}" if points else ""


def _compare(store: Any, names: list[str], json: bool) -> None:
    """Show settings that differ, and all scores, side by side."""
    from ordinate.app.cli.opened import find_run
    from ordinate.app.cli.output import print_json, print_table, say
    from ordinate.lab.evaluation.points import metric_of_task
    from ordinate.lab.report.numbers import show_number
    from ordinate.lab.runs.record import read_record
    from ordinate.lab.runs.store import flatten, side_by_side

    if len(names) < 2:
        raise OrdinateError("--compare needs two runs or more: write --compare A --compare B")
    found = [find_run(store, name) for name in names]
    records = [read_record(run.path) for run in found]
    facts = [{**_facts(run), **vars(record)} for run, record in zip(found, records, strict=True)]
    recipes = [flatten(record.recipe) for record in records]
    differing = side_by_side([recipe for recipe in recipes if recipe], differing=True)
    settings = {key: [recipe.get(key) for recipe in recipes] for key in differing}
    table = {key: [each.get(key) for each in facts] for key in FACTS}
    measured = side_by_side([record.scores for record in records])
    ids = [run.id for run in found]
    if json:
        print_json({"runs": ids, "facts": table, "recipe": settings, "scores": measured})
        return
    if not any(table["error"]):
        del table["error"]
    print_table(["", *ids], [[key, *map(_text, values)] for key, values in table.items()])
    if settings:
        print_table(
            ["settings that differ", *ids], [[key, *map(_text, row)] for key, row in settings.items()]
        )
    else:
        say("the recipes are the same")
    if measured:
        rows = [[key, *map(show_number, row)] for key, row in measured.items()]
        metrics = dict.fromkeys(metric_of_task(str(record.task)) for record in records)
        print_table([" / ".join(metrics), *ids], rows)


def _facts(run: Any) -> dict[str, Any]:
    """What the record of a run says; nothing where it cannot be read."""
    try:
        facts: dict[str, Any] = run.record()
    except OrdinateError:
        return {}
    return facts


def _text(value: Any) -> str:
    return "" if value is None else str(value)
