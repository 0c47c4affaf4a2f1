"""The report of a folder of runs: recipes side by side, what they score and in what they differ."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from ordinate.app.cli.run_panels import Seeds, runs_frame
from ordinate.app.cli.run_report import axis_sections, commands, damage_sections, training_sections
from ordinate.lab.evaluation.claims import FEWEST_SEEDS
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.report import Command, KeyValues, Report, Section, Table
from ordinate.lab.report.style import ROLES
from ordinate.lab.runs import Run
from ordinate.lab.runs.store import flatten, side_by_side


def study_report(recipes: Mapping[str, Sequence[Run]], *, shown: Path, damaged: Sequence[str] = ()) -> Report:
    """Build the report of all recipes of a store, each with the runs of its folder.

    `damaged` has a line for every run that cannot be read.

    >>> study_report({"sum-9f2b1c4d5e": [run]}, shown=Path("runs"))     # doctest: +SKIP
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
        Table(*_scores(groups), _caption(groups), "Scores", "scores"),
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


def _scores(groups: Sequence[Seeds]) -> tuple[list[str], list[list[object]]]:
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
