"""What runs have stored: panels of figures, rows of a table, and which runs can be read at all."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import NumberPoint, SymbolPoint, metric_of_task, score_of
from ordinate.lab.report.drawing import Panel, Series
from ordinate.lab.report.tables import Frame
from ordinate.lab.runs import Run
from ordinate.lab.runs.plain import is_number
from ordinate.lab.runs.record import check_seed

MEASURES = tuple(dict.fromkeys([*NumberPoint.columns.values(), *SymbolPoint.columns.values()]))
"""What was measured at a point, by the names that runs store."""

COLUMNS = (
    *(
        "run",
        "recipe",
        "task",
        "model",
        "seed",
        "status",
        "parameters",
        "samples_seen",
        "seconds",
        "averaged",
    ),
    *("axis", "point", "in_distribution", "count", "metric", "score"),
    *MEASURES,
)
"""One row a run and point of an axis; a run that was not measured has one row without a point."""


@dataclass(frozen=True)
class Seeds:
    """The runs of one recipe, what a reader calls it, and how it looks (`ordinate.lab.report.style.ROLES`)."""

    label: str
    role: str
    runs: Sequence[Run]

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """What was asked for."""
        return self.runs[0].recipe

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """What is known of every run."""
        return [run.facts() for run in self.runs]

    @property
    def task(self) -> str:
        """The name of the task."""
        return str(self.recipe["task"]["name"])

    @property
    def model(self) -> str:
        """The kind of the model."""
        return str(self.recipe["model"]["kind"])

    @property
    def metric(self) -> str:
        """What the scores are, averaged weights named."""
        averaged = any(facts["averaged"] for facts in self.facts)
        return metric_of_task(self.task) + (", averaged weights" if averaged else "")

    @property
    def numbers(self) -> list[int]:
        """The seeds."""
        return [run.seed for run in self.runs]


def training_panel(groups: Sequence[Seeds], title: str) -> Panel | None:
    """Losses along training, each recipe up to where every seed that did not fail has come."""
    series = [line for group in groups if (line := _losses(group))]
    return Panel(title, "step", "training loss", series, trained_to=None) if series else None


def _losses(group: Seeds) -> Series | None:
    losses = [
        {row["step"]: row["loss"] for row in run.metrics() if {"step", "loss"} <= row.keys()}
        for run in group.runs
    ]
    going = [t for t, f in zip(losses, group.facts, strict=True) if f["status"] != "failed"]
    last = min((max(table, default=0) for table in going), default=None)
    steps = sorted({step for table in losses for step in table if last is None or step <= last})
    if not steps:
        return None
    values = [[float(table.get(step, math.nan)) for step in steps] for table in losses]
    return Series(group.label, group.role, steps, values, seeds=group.numbers)


def axis_panels(groups: Sequence[Seeds], metric: str) -> list[Panel]:
    """Scores along every axis with several points, a line a recipe."""
    panels = []
    for axis in dict.fromkeys(
        point["axis"] for group in groups for facts in group.facts for point in facts["evaluation"]
    ):
        series, trained = [], []
        for group in groups:
            tables = [
                {p["value"]: score_of(p) for p in facts["evaluation"] if p["axis"] == axis}
                for facts in group.facts
            ]
            x = sorted({value for table in tables for value in table})
            if len(x) < 2:
                continue
            trained += [
                p["value"]
                for facts in group.facts
                for p in facts["evaluation"]
                if p["axis"] == axis and p["in_distribution"]
            ]
            values = [[float(table.get(v, math.nan)) for v in x] for table in tables]
            series.append(Series(group.label, group.role, x, values, seeds=group.numbers))
        if series:
            title = (
                f"{metric.partition(',')[0]} by {axis}"  # that weights are averaged is said beside the axis
            )
            panels.append(Panel(title, axis, metric, series, max(trained, default=None)))
    return panels


def runs_frame(groups: Sequence[Seeds]) -> Frame:
    """Every run at every point."""
    rows: list[list[object]] = []
    for group in groups:
        metric = metric_of_task(group.task)
        for facts in group.facts:
            run = [facts["id"], group.recipe["name"], group.task, group.model, facts["seed"], facts["status"]]
            run += [facts[key] for key in ("parameters", "samples_seen", "seconds", "averaged")]
            for point in facts["evaluation"] or [{}]:
                place = [point.get(key) for key in ("axis", "value", "in_distribution", "count")]
                score = score_of(point) if point else None
                rows.append([*run, *place, metric, score, *(point.get(key) for key in MEASURES)])
    return Frame("runs", COLUMNS, rows, "Every run at every point that was measured.")


def readable(runs: Iterable[Run]) -> tuple[list[Run], list[str]]:
    """Return the runs whose files are all as they must be, and a line for every other one."""
    found, damaged = [], []
    for run in runs:
        try:
            _check(run)
            found.append(run)
        except OrdinateError as error:
            damaged.append(f"{run.id}: {error}")
    return found, damaged


def _check(run: Run) -> None:
    check_seed(run.seed)
    recipe = run.recipe
    for table, key in (("task", "name"), ("model", "kind")):
        inner = recipe.get(table)
        if not isinstance(inner, dict) or not _is_word(inner.get(key)):
            raise OrdinateError(
                f"{run.path / 'recipe.toml'} is not the recipe of a run: it has no {table}.{key}"
            )
    run.record()
    run.metrics()
    points = run.read_result("evaluation") if "evaluation" in run.results() else []
    if not isinstance(points, list) or not all(map(_is_point, points)):
        raise OrdinateError(f"{run.path / 'results' / 'evaluation.json'} is not a list of points")


def _is_point(point: Any) -> bool:
    return (
        isinstance(point, dict)
        and _is_word(point.get("axis"))
        and isinstance(point.get("in_distribution"), bool)
        and is_number(point.get("accuracy"))
        and all(is_number(point[key]) for key in ("value", "count", *MEASURES) if key in point)
    )


def _is_word(value: object) -> bool:
    """Whether this can stand in a figure as it is."""
    return isinstance(value, str) and re.fullmatch(r"[\w .-]+", value) is not None
