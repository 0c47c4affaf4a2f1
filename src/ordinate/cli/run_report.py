"""The report of a run, or of all seeds of a recipe: training curve, scores along axes, settings, how to rerun."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordinate.cli.summary import run_facts, seeds_note
from ordinate.errors import OrdinateError
from ordinate.evaluation.claims import FEWEST_SEEDS
from ordinate.evaluation.points import SymbolPoint, metric_of_task, score_of
from ordinate.evaluation.statistics import summarise
from ordinate.figures.accuracy import accuracy_curves
from ordinate.figures.curves import Panel, Series, training_curves, value_curves
from ordinate.figures.report import (
    Command,
    FigureSection,
    KeyValues,
    Report,
    Section,
    Table,
    Text,
    write_report,
)
from ordinate.runs import Run
from ordinate.runs.compare import flatten

Facts = dict[str, Any]


def write_run_report(runs: Sequence[Run], path: Path, *, shown: Path | None = None) -> Path:
    """Write the report of runs of one recipe to `path` and return it; `shown` is their folder as a person writes it.

    >>> write_run_report([Store("runs").find("sum-9f")], Path("report.html"))     # doctest: +SKIP
    """
    if not runs:
        raise OrdinateError("a report needs at least one run: train the recipe first")
    return write_report(run_report(runs, shown=shown or path.parent), path)


def run_report(runs: Sequence[Run], *, shown: Path) -> Report:
    """Build the report from what the runs have stored: nothing is computed anew."""
    recipe, facts = runs[0].recipe, [run_facts(run) for run in runs]
    role = str(recipe["model"]["kind"])
    losses = [{row["step"]: row["loss"] for row in run.metrics() if "loss" in row} for run in runs]
    sections = [
        Text(_status(facts), title="Status"),
        *_training(role, losses, facts),
        *_sweeps(role, metric_of_task(str(recipe["task"]["name"])), facts),
        KeyValues(flatten(recipe)),
        KeyValues(runs[0].record().get("environment", {}), title="Environment"),
        Command(_commands(runs, shown)),
    ]
    counted = "1 seed" if len(runs) == 1 else f"{len(runs)} seeds"
    lead = f"Task {recipe['task']['name']}, {role} model, {counted}."
    if note := seeds_note(len(runs)):
        lead += f" {note[0].upper()}{note[1:]}."
    return Report(str(recipe["name"]), lead, sections)


def _status(facts: Sequence[Facts]) -> list[str]:
    lines = []
    for f in facts:
        line = f"Seed {f['seed']}: {f['status']} at step {f['step'] or 0} of {f['steps'] or '?'}"
        if f["parameters"]:
            line += f", {f['parameters']} parameters"
        if f["samples_seen"]:
            line += f", {f['samples_seen']} samples seen in {f['seconds']:.0f} s"
        lines.append(f"{line}. {f['error']}" if f["error"] else f"{line}.")
    return lines


def _training(role: str, losses: Sequence[dict[int, float]], facts: Sequence[Facts]) -> list[Section]:
    """The training curve, up to where every seed that did not fail has come."""
    going = [table for table, f in zip(losses, facts, strict=True) if f["status"] != "failed"]
    last = min((max(table, default=0) for table in going), default=None)
    steps = sorted({step for table in losses for step in table if last is None or step <= last})
    if not steps:
        return [Text(["No loss is stored yet."], title="Training")]
    values = [[float(table.get(step, math.nan)) for step in steps] for table in losses]
    figure = training_curves(
        [Panel("training", "step", "training loss", [Series(role, role, steps, values)])]
    )
    return [
        FigureSection(figure, "Loss along training, mean over the steps since the last point.", "Training")
    ]


def _sweeps(role: str, metric: str, facts: Sequence[Facts]) -> list[Section]:
    """A table of scores at every point, and a curve for every axis with several points."""
    exact = metric == SymbolPoint.metric
    title, metric = ("Accuracy" if exact else "Errors"), f"{metric[0].upper()}{metric[1:]}"
    if any(f["averaged"] for f in facts):
        metric += ", averaged weights"
    names = list(dict.fromkeys(name for f in facts for name in f["scores"]))
    if not names:
        return [Text(["Nothing was measured yet: a run is measured when its training ends."], title=title)]
    rows: list[list[object]] = []
    for name in names:
        scores = [float(f["scores"].get(name, math.nan)) for f in facts]
        row: list[object] = [name, *("failed" if math.isnan(score) else score for score in scores)]
        rows.append(row + ([summarise(scores).interval] if len(facts) >= FEWEST_SEEDS else []))
    headers = ["point", *(f"seed {f['seed']}" for f in facts)]
    headers += ["median [95 % interval]"] if len(facts) >= FEWEST_SEEDS else []
    table = Table(headers, rows, f"{metric}; validation is in distribution.", title)
    panels = _panels(role, metric[0].lower() + metric[1:], facts)
    if not panels:
        return [table]
    figure = (accuracy_curves if exact else value_curves)(panels)
    return [table, FigureSection(figure, f"{metric} along the axes of the task.", f"{title} along axes")]


def _panels(role: str, metric: str, facts: Sequence[Facts]) -> list[Panel]:
    measured = [f["evaluation"] for f in facts]  # the first point is the validation set, as trained
    panels = []
    for axis in dict.fromkeys(point["axis"] for points in measured for point in points):
        tables = [{p["value"]: score_of(p) for p in points if p["axis"] == axis} for points in measured]
        x = sorted({value for table in tables for value in table})
        if len(x) < 2:
            continue
        trained = [
            p["value"] for points in measured for p in points if p["axis"] == axis and p["in_distribution"]
        ]
        values = [[float(table.get(v, math.nan)) for v in x] for table in tables]
        series = Series(role, role, x, values)
        panels.append(Panel(axis, axis, metric, [series], max(trained, default=None)))
    return panels


def _commands(runs: Sequence[Run], shown: Path) -> str:
    lines = []
    for run in runs:
        folder = shown if shown.name == run.path.name else shown / run.path.name
        lines.append(f"ordinate train {folder / 'recipe.toml'} --seed {run.seed} --out again")
    return "\n".join(lines)
