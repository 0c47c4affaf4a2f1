"""`ordinate runs`: list, filter, compare, and let runs travel as one file."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import StoreFolder
from ordinate.app.cli.output import Result, Table, note
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.report.numbers import show_number

if TYPE_CHECKING:
    from ordinate.lab.runs import Run, RunRecord, Store

FACTS = ("seed", "status", "step", "parameters", "averaged", "seconds", "error")
"""What is compared of runs besides settings and scores."""


def runs(
    task: Annotated[str | None, typer.Option(help="Only runs of this task.")] = None,
    model: Annotated[str | None, typer.Option(help="Only runs of this kind of model.")] = None,
    status: Annotated[str | None, typer.Option(help="new, running, done or failed.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of the recipe; * matches anything.")] = None,
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
) -> Result:
    """List the runs of a store, compare some of them side by side, or let them travel as one file."""
    from ordinate.lab.runs import Store
    from ordinate.lab.runs.store import flatten

    if whole and pack is None:
        raise OrdinateError("--whole goes with --pack: write --pack FILE --whole")
    if unpack is not None:
        return _unpack(Store(store or Path("runs")), unpack)
    if store is not None and not store.is_dir():
        raise OrdinateError(f"there is no folder {str(store)!r}: write the --out of a training")
    there = Store(store or Path("runs"))
    if compare:
        return _compare(there, compare)
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
    return _list(there, chosen) if pack is None else _pack(there, chosen, pack, whole)


def _check(task: str | None, model: str | None, status: str | None) -> None:
    """Refuse names that no run can have."""
    from ordinate.kinds import hint
    from ordinate.lab.architectures import MODELS
    from ordinate.lab.runs.record import STATUSES
    from ordinate.lab.tasks import TASKS

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


def _pack(store: "Store", records: Sequence["RunRecord"], file: Path, whole: bool) -> Result:
    """Write the runs of these records to a file."""
    from ordinate.lab.runs.archive import pack

    if not records:
        raise OrdinateError(f"no runs to pack in {store.root}: ordinate runs lists all runs")
    packed = pack(store, file, [record.id for record in records], whole=whole)
    size = file.stat().st_size
    left = len(records) - len(packed)
    left_out = f", {left} left out that have not ended or cannot be read" if left else ""
    line = f"{file}: {len(packed)} runs, {size / 1000:.0f} kB{left_out}"
    return Result({"file": str(file), "bytes": size, "whole": whole, "packed": packed}, [line])


def _unpack(store: "Store", file: Path) -> Result:
    """Bring the runs of a file into the store."""
    from ordinate.lab.runs.archive import unpack

    added, kept = unpack(file, store)
    line = f"{store.root}: {len(added)} runs from {file}, {len(kept)} stayed as they were"
    return Result({"store": str(store.root), "added": added, "kept": kept}, [line])


def _list(store: "Store", records: Sequence["RunRecord"]) -> Result:
    from ordinate.lab.runs import status_now

    records = [replace(r, status=status_now(store.root / r.id, r.status)) for r in records]
    found = [{**vars(record), "path": str(store.root / record.id)} for record in records]
    return Result({"store": str(store.root), "runs": found}, _listed(store, records))


def _listed(store: "Store", records: Sequence["RunRecord"]) -> Iterator[Table | str]:
    from ordinate.lab.evaluation.points import metric_of_task

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
    yield Table(headers, rows)
    for record in records:
        if record.damaged:
            yield (f"{record.id} cannot be read: {record.error}")


def _averaged(recipe: dict[str, Any]) -> bool:
    """Whether a recipe asks for averaged weights."""
    training = recipe.get("training")
    return isinstance(training, dict) and training.get("average") is not None


def _last(scores: dict[str, Any]) -> str:
    """The last point of the last axis, which recipes order from easy to hard."""
    points = [name for name in scores if name != "validation"]
    return f"{points[-1]}: {show_number(scores[points[-1]])}" if points else ""


def _compare(store: "Store", names: list[str]) -> Result:
    """Show settings that differ, and all scores, side by side."""
    from ordinate.lab.evaluation.points import metric_of_task
    from ordinate.lab.runs.record import read_record
    from ordinate.lab.runs.store import flatten, side_by_side
    from ordinate.lab.zoo.opened import find_run

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
    document = {"runs": ids, "facts": table, "recipe": settings, "scores": measured}
    known = {key: values for key, values in table.items() if key != "error" or any(values)}
    shown: list[Table | str] = [Table(["", *ids], [[key, *map(_text, row)] for key, row in known.items()])]
    if settings:
        rows = [[key, *map(_text, row)] for key, row in settings.items()]
        shown.append(Table(["settings that differ", *ids], rows))
    else:
        shown.append("the recipes are the same")
    if measured:
        rows = [[key, *map(show_number, row)] for key, row in measured.items()]
        metrics = dict.fromkeys(metric_of_task(str(record.task)) for record in records)
        shown.append(Table([" / ".join(metrics), *ids], rows))
    return Result(document, shown)


def _facts(run: "Run") -> dict[str, Any]:
    """What the record of a run says; nothing where it cannot be read."""
    try:
        facts: dict[str, Any] = run.record()
    except OrdinateError:
        return {}
    return facts


def _text(value: Any) -> str:
    return "" if value is None else str(value)
