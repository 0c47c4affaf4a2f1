"""Pages of runs: of one run or all seeds of a recipe, and of a folder of recipes side by side."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.claims import FEWEST_SEEDS, seeds_note
from ordinate.lab.evaluation.points import SymbolPoint, metric_of_task
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.accuracy import accuracy_curves
from ordinate.lab.report.curves import training_curves, value_curves
from ordinate.lab.report.report import Command, FigureSection, KeyValues, Report, Section, Table, Text
from ordinate.lab.report.runs import Seeds, axis_panels, readable, runs_frame, training_panel
from ordinate.lab.report.style import ROLES
from ordinate.lab.runs import Run
from ordinate.lab.runs.record import is_run_folder, run_folders
from ordinate.lab.runs.store import flatten, side_by_side

Facts = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """The runs of a folder that can be read, and a line for every other one."""

    folder: Path
    runs: Sequence[Run]
    damaged: Sequence[str]
    one_recipe: bool
    """Whether this is one run, or the seeds of one recipe."""

    def report(self) -> Report:
        """The page of a recipe's runs, or that of all recipes of a store."""
        if self.one_recipe:
            return run_report(self.runs, shown=self.folder, damaged=self.damaged)
        recipes: dict[str, list[Run]] = {}
        for run in self.runs:
            recipes.setdefault(run.path.parent.name, []).append(run)
        return study_report(recipes, shown=self.folder, damaged=self.damaged)


def stored_runs(folder: Path) -> Stored | None:
    """The runs in a folder: of a run itself, of a recipe, of a store. None where there are none."""
    whole = folder.resolve()
    seeds = [path for path in (whole, *whole.glob("seed-*")) if is_run_folder(path)]
    seeds.sort(key=lambda path: int(path.name.removeprefix("seed-")))
    found = seeds or list(run_folders(whole))
    if not found:
        return None
    runs, damaged = readable(map(Run, found))
    if not runs:
        raise OrdinateError(f"nothing in {folder} can be read: {damaged[0]}")
    return Stored(folder, runs, damaged, bool(seeds))


def run_report(runs: Sequence[Run], *, shown: Path, damaged: Sequence[str] = ()) -> Report:
    """Build the report from what the runs of one recipe have stored; `shown` is their folder as a person writes it.

    `damaged` has a line for every run that cannot be read.
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


def study_report(recipes: Mapping[str, Sequence[Run]], *, shown: Path, damaged: Sequence[str] = ()) -> Report:
    """Build the report of all recipes of a store, each with the runs of its folder.

    `damaged` has a line for every run that cannot be read.
    """
    groups = _groups(recipes)
    tasks = list(dict.fromkeys(group.task for group in groups))
    figures: list[Section] = []
    for task in tasks:
        for part, some in enumerate(_abreast([g for g in groups if g.task == task])):
            name = f"{task}-{part + 1}" if part else task
            figures += axis_sections(some, f"{task}: scores along axes", f"{name}-axes")
            figures += training_sections(some, f"{task}: training", f"{name}-training")
    settings = [flatten(group.recipe) for group in groups]
    differing = {k: v for k, v in side_by_side(settings, differing=True).items() if k != "name"}
    shared = {key: value for key, value in settings[0].items() if key not in differing and key != "name"}
    lines = [line for folder, runs in recipes.items() for line in commands(runs, shown / folder)]
    sections: list[Section] = [
        Table(*_recipe_scores(groups), _caption(groups), "Scores", "scores"),
        *damage_sections(damaged),
        *figures,
        *_differences(groups, differing),
        KeyValues(shared, title="Settings that all share"),
        KeyValues(groups[0].runs[0].record().get("environment") or {}, title="Environment"),
        Command("\n".join(lines)),
    ]
    runs = sum(len(group.runs) for group in groups)
    lead = f"{len(groups)} recipes, {runs} runs, on {', '.join(tasks)}. A study has no claims and gives no verdict."
    return Report(shown.name or "runs", lead, sections, [runs_frame(groups)])


def _groups(recipes: Mapping[str, Sequence[Run]]) -> list[Seeds]:
    """Recipes under their names, or under those of their folders where two share a name; looks go round by task."""
    names = [str(runs[0].recipe["name"]) for runs in recipes.values()]
    groups, looks = [], list(ROLES)
    placed: dict[str, int] = {}
    for name, (folder, runs) in zip(names, recipes.items(), strict=True):
        task = str(runs[0].recipe["task"]["name"])
        place = placed[task] = placed.get(task, -1) + 1
        groups.append(Seeds(name if names.count(name) == 1 else folder, looks[place % len(looks)], runs))
    return groups


def _abreast(groups: Sequence[Seeds]) -> list[tuple[Seeds, ...]]:
    """As many recipes as one figure can tell apart."""
    size = len(ROLES)
    return [tuple(groups[first : first + size]) for first in range(0, len(groups), size)]


def _recipe_scores(groups: Sequence[Seeds]) -> tuple[list[str], list[list[object]]]:
    """A row a recipe: what it is, how many seeds ended, and its scores in distribution and at the last point."""
    headers = ["recipe", "task", "model", "parameters", "seeds", "failed", "metric", "in distribution"]
    rows: list[list[object]] = []
    for group in groups:
        points = [name for facts in group.facts for name in facts["scores"] if name != "validation"]
        last = points[-1] if points else ""
        failed = sum(facts["status"] == "failed" for facts in group.facts)
        cells: list[object] = [group.label, group.task, group.model, group.facts[0]["parameters"]]
        cells += [len(group.runs), failed, group.metric, _score(group, "validation")]
        rows.append([*cells, last, _score(group, last)])
    return [*headers, "last point", "at the last point"], rows


def _score(group: Seeds, point: str) -> object:
    """The median over seeds, with its interval where there are enough."""
    values = [float(facts["scores"].get(point, math.nan)) for facts in group.facts]
    summary = summarise(values)
    return summary.interval if summary.finite >= FEWEST_SEEDS else summary.median


def _caption(groups: Sequence[Seeds]) -> str:
    text = "Median over the seeds that ended, with the 95 % interval where there are enough of them."
    few = [group.label for group in groups if len(group.runs) < FEWEST_SEEDS]
    return f"{text} Fewer than {FEWEST_SEEDS} seeds: {', '.join(few)}." if few else text


def _differences(groups: Sequence[Seeds], differing: Mapping[str, Sequence[object]]) -> list[Section]:
    if not differing:
        return []
    rows = [[key, *("" if value is None else value for value in row)] for key, row in differing.items()]
    headers = ["setting", *(group.label for group in groups)]
    return [Table(headers, rows, title="Settings that differ", name="settings")]
