"""The report of a run, or of all seeds of a recipe: training curve, scores along axes, settings, how to rerun."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordinate.app.cli.run_panels import Seeds, axis_panels, runs_frame, training_panel
from ordinate.app.cli.summary import seeds_note
from ordinate.lab.evaluation.claims import FEWEST_SEEDS
from ordinate.lab.evaluation.points import SymbolPoint, metric_of_task
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.accuracy import accuracy_curves
from ordinate.lab.report.curves import training_curves, value_curves
from ordinate.lab.report.report import Command, FigureSection, KeyValues, Report, Section, Table, Text
from ordinate.lab.runs import Run
from ordinate.lab.runs.store import flatten

Facts = dict[str, Any]


def run_report(runs: Sequence[Run], *, shown: Path, damaged: Sequence[str] = ()) -> Report:
    """Build the report from what the runs of one recipe have stored; `shown` is their folder as a person writes it.

    `damaged` has a line for every run that cannot be read.

    >>> run_report([Store("runs").find("sum-9f")], shown=Path("runs/sum-9f"))     # doctest: +SKIP
    """
    role = str(runs[0].recipe["model"]["kind"])
    group = Seeds(role, role, runs)
    sections = [
        Text(_status(group.facts), title="Status"),
        *damage_sections(damaged),
        *_scores(group),
        *training_sections([group]),
        KeyValues(flatten(group.recipe)),
        KeyValues(runs[0].record().get("environment") or {}, title="Environment"),
        Command("\n".join(commands(runs, shown))),
    ]
    counted = "1 seed" if len(runs) == 1 else f"{len(runs)} seeds"
    lead = f"Task {group.task}, {role} model, {counted}."
    if note := seeds_note(len(runs)):
        lead += f" {note[0].upper()}{note[1:]}."
    return Report(str(group.recipe["name"]), lead, sections, [runs_frame([group])])


def _status(facts: Sequence[Facts]) -> list[str]:
    lines = []
    for f in facts:
        line = f"Seed {f['seed']}: {f['status']} at step {f['step'] or 0} of {f['steps'] or '?'}"
        if f["parameters"]:
            line += f", {f['parameters']} parameters"
        if f["samples_seen"]:
            line += f", {f['samples_seen']} samples seen in {f['seconds'] or 0:.0f} s"
        lines.append(f"{line}. {f['error']}" if f["error"] else f"{line}.")
    return lines


def _scores(group: Seeds) -> list[Section]:
    """A table of scores at every point, and a curve for every axis with several points."""
    facts, metric = group.facts, f"{group.metric[0].upper()}{group.metric[1:]}"
    title = "Accuracy" if is_share([group]) else "Errors"
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
    table = Table(headers, rows, f"{metric}; validation is in distribution.", title, "scores")
    return [table, *axis_sections([group], f"{title} along axes", "axes")]


def damage_sections(damaged: Sequence[str]) -> list[Section]:
    """The runs that are missing here since they cannot be read, with the cause."""
    return [Text(damaged, title="Runs that cannot be read")] if damaged else []


def is_share(groups: Sequence[Seeds]) -> bool:
    """Whether the scores are shares of right answers, and not errors."""
    return all(metric_of_task(group.task) == SymbolPoint.metric for group in groups)


def axis_sections(groups: Sequence[Seeds], title: str, name: str) -> list[Section]:
    """Scores along the axes of a task that all groups share; nothing where no axis has several points."""
    metric = groups[0].metric
    panels = axis_panels(groups, metric)
    if not panels:
        return []
    figure = (accuracy_curves if is_share(groups) else value_curves)(panels)
    caption = f"{metric[0].upper()}{metric[1:]} along the axes of the task; what is shaded was trained."
    return [FigureSection(figure, caption, title, name=name)]


def training_sections(
    groups: Sequence[Seeds], title: str = "training", name: str = "training"
) -> list[Section]:
    """Losses along training."""
    panel = training_panel(groups, title)
    heading = f"{title[0].upper()}{title[1:]}"
    if panel is None:
        return [Text(["No loss is stored yet."], title=heading)]
    caption = "Loss along training, mean over the steps since the last point."
    return [FigureSection(training_curves([panel]), caption, heading, name=name)]


def commands(runs: Sequence[Run], shown: Path) -> list[str]:
    """What trains runs again, their folder written as a person does."""
    lines = []
    for run in runs:
        folder = shown if shown.name == run.path.name else shown / run.path.name
        lines.append(f"ordinate train {folder / 'recipe.toml'} --seed {run.seed} --out again")
    return lines
