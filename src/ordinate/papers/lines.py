"""Figures of lines over whatever recipes differ in: depth, samples, length, or an axis of the task.

A `Spot` is one number, a recipe measured at a point; a `Line` joins spots; a `Sheet` is a panel of lines. Everything
that a figure trains, draws and claims is read off its sheets.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Drawing

from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.curves import Panel, Series, value_curves
from ordinate.lab.report.numbers import show_number
from ordinate.lab.runs import Run
from ordinate.lab.studies import Study, errors_at
from ordinate.lab.training import Recipe
from ordinate.papers.columns import MSE, Column
from ordinate.papers.line_aims import Found, LineAim, Place
from ordinate.papers.trained import Trained


@dataclass(frozen=True)
class Spot:
    """A recipe, and the point at which its runs are measured."""

    recipe: Recipe
    point: str = "validation"


@dataclass(frozen=True)
class Line:
    """One model over the numbers of an axis; `role` decides how it looks (`ordinate.lab.report.style.ROLES`)."""

    label: str
    role: str
    spots: Mapping[float, Spot]
    published: Mapping[float, float] = field(default_factory=dict)

    @classmethod
    def along(
        cls,
        axis: str,
        recipe: Recipe,
        label: str,
        role: str,
        published: Mapping[float, float] | None = None,
    ) -> "Line":
        """One recipe along an axis of its evaluation."""
        spots = {x: Spot(recipe, f"{axis}={x:g}") for x in recipe.evaluation.axes[axis]}
        return cls(label, role, spots, published or {})


@dataclass(frozen=True)
class Exact:
    """A line that is computed when the figure is, not trained: the best that a model can express, or a bound."""

    label: str
    role: str
    xs: tuple[float, ...]
    compute: Callable[[float], float]


@dataclass(frozen=True)
class Sheet:
    """One panel: its lines, and the column that they show."""

    title: str
    xlabel: str
    lines: Sequence[Line | Exact]
    column: Column = MSE
    trained_to: float | None = None
    log_x: bool = False


@dataclass(frozen=True)
class Plan:
    """What a scale trains, draws and aims at."""

    sheets: Sequence[Sheet]
    aims: Sequence[LineAim] = ()
    seeds: int = 3
    differs: str = ""
    """In what the scale differs from the published setting, and what else a reader must know."""
    columns: int | None = None
    """Panels side by side, where the number of sheets does not say it."""
    calls: Mapping[str, Callable[..., str]] = field(default_factory=dict)
    """What trains a recipe, by its name, where it is not the loop of this library (`Study.calls`)."""

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """Every recipe once."""
        lines = (line for sheet in self.sheets for line in sheet.lines if isinstance(line, Line))
        spots = (spot for line in lines for spot in line.spots.values())
        return tuple({repr(spot.recipe.to_dict()): spot.recipe for spot in spots}.values())


class Lines(Trained):
    """A figure that is nothing but its plan, a function of the scale."""

    def __init__(
        self, name: str, title: str, summary: str, scales: dict[str, str], plan: Callable[[str], Plan]
    ) -> None:
        self.name, self.title, self.summary, self.scales = name, title, summary, scales  # type: ignore[misc]
        self.plan = plan

    def study(self, scale: str, store: Path) -> Study:
        """Every recipe of the sheets with every seed."""
        plan = self.plan(scale)
        return Study(plan.recipes, tuple(range(plan.seeds)), store, calls=plan.calls)

    def measure(self, scale: str, study: Study) -> dict[str, Any]:
        """Sheets, claims and settings as plain data."""
        plan = self.plan(scale)
        sheets = [_sheet(sheet, study) for sheet in plan.sheets]
        found = _Runs(plan.sheets, study, sheets)
        return {
            "settings": _settings(plan),
            "sheets": sheets,
            "columns": plan.columns or (2 if len(sheets) in (2, 4) else 3),
            "differs": plan.differs,
            "claims": [aim.claim(found, scale).to_dict() for aim in plan.aims],
            "table": _table(sheets),
        }

    def draw(self, document: dict[str, Any]) -> Drawing:
        """One panel a sheet."""
        return value_curves(self.panels(document), columns=document["columns"])

    def panels(self, document: dict[str, Any]) -> list[Panel]:
        """What the sheets show."""
        return [
            Panel(
                sheet["title"],
                sheet["xlabel"],
                sheet["ylabel"],
                [_series(line) for line in sheet["lines"]],
                trained_to=sheet["trained_to"],
                log_x=sheet["log_x"],
                percent=sheet["percent"],
            )
            for sheet in document["sheets"]
        ]

    def caption(self, document: dict[str, Any]) -> str:
        """Say what lines, bands and marks are."""
        lines = [line for sheet in document["sheets"] for line in sheet["lines"]]
        seeds = max(len(line["values"]) for line in lines)
        known = "; hollow marks are published values" if any(line["published"] for line in lines) else ""
        computed = dict.fromkeys(line["label"] for line in lines if line["exact"])
        exact = f"; computed, not trained: {', '.join(computed)}" if computed else ""
        return f"Median over {seeds} seeds with the 10-90 % band; dots are single seeds{known}{exact}."

    def notes(self, document: dict[str, Any]) -> list[str]:
        """State the scale, in what it differs from the published setting, and what did not end."""
        scale = document["scale"]
        notes = [f"Scale {scale}: {self.scales[scale]}."]
        notes += [document["differs"]] if document["differs"] else []
        notes.append(
            "Intervals: bootstrap over seeds and, for ratios, over the test samples inside each seed."
        )
        if scale not in ("laptop", "paper"):
            notes.append("This scale gives no verdict.")
        return notes + [f"Did not end: {line.strip().splitlines()[-1]}" for line in document["not_ended"]]


class _Runs(Found):
    """What the runs of a study measured, by sheet, line and x."""

    def __init__(self, sheets: Sequence[Sheet], study: Study, documents: list[dict[str, Any]]) -> None:
        self.lines = {
            (s.title, line.label): line for s in sheets for line in s.lines if isinstance(line, Line)
        }
        self.documents = {(s["title"], line["label"]): line for s in documents for line in s["lines"]}
        self.study = study

    def values(self, place: Place) -> list[float]:
        """The column of the sheet for every seed; NaN for one that failed."""
        line = self.documents[place.sheet, place.line]
        column = line["x"].index(place.x)
        return [math.nan if row[column] is None else row[column] for row in line["values"]]

    def errors(self, place: Place) -> tuple[Any, int]:
        """The errors of every test sample, for the seeds that ended, and how many seeds failed."""
        spot = self.lines[place.sheet, place.line].spots[place.x]
        return errors_at(self.study.runs(spot.recipe), spot.point)

    def published(self, place: Place) -> float | None:
        """The published value, where one is known."""
        return self.lines[place.sheet, place.line].published.get(place.x)

    @property
    def seeds(self) -> int:
        """Seeds started."""
        return len(self.study.seeds)


def _sheet(sheet: Sheet, study: Study) -> dict[str, Any]:
    return {
        "title": sheet.title,
        "xlabel": sheet.xlabel,
        "ylabel": sheet.column.label,
        "percent": sheet.column.percent,
        "trained_to": sheet.trained_to,
        "log_x": sheet.log_x,
        "lines": [_line(line, sheet.column, study) for line in sheet.lines],
    }


def _line(line: Line | Exact, column: Column, study: Study) -> dict[str, Any]:
    """The column at every x, a row a seed, and facts about the runs; one row for what is computed."""
    if isinstance(line, Exact):
        row = [value if math.isfinite(value) else None for value in map(line.compute, line.xs)]
        facts = {"label": line.label, "role": line.role, "x": list(line.xs), "values": [row]}
        return facts | {"exact": True, "published": {}, "parameters": [], "seconds": 0.0, "failed": []}
    runs = {x: study.runs(spot.recipe) for x, spot in line.spots.items()}
    columns = [[_value(run, line.spots[x].point, column) for run in at] for x, at in runs.items()]
    records = {run.id: run.record() for at in runs.values() for run in at}
    return {
        "label": line.label,
        "role": line.role,
        "exact": False,
        "x": list(line.spots),
        "values": [list(row) for row in zip(*columns, strict=True)],
        "published": {f"{x:g}": value for x, value in line.published.items()},
        "parameters": [at[0].record().get("parameters") for at in runs.values()],
        "seconds": round(sum(record.get("seconds") or 0.0 for record in records.values()), 1),
        "failed": [record.get("error") for record in records.values() if record.get("status") != "done"],
    }


def _value(run: Run, point: str, column: Column) -> float | None:
    """A column of a run; `None` for a run that failed."""
    value = column.read(run, point) if run.status == "done" else math.nan
    return value if math.isfinite(value) else None


def _series(line: dict[str, Any]) -> Series:
    values = [[math.nan if v is None else v for v in row] for row in line["values"]]
    known = {float(x): value for x, value in line["published"].items()}
    return Series(line["label"], line["role"], line["x"], values, known)


def _settings(plan: Plan) -> dict[str, Any]:
    """What all recipes share, and the range of what they do not."""
    trainings = [recipe.training for recipe in plan.recipes]
    return {
        "tasks": ", ".join(dict.fromkeys(recipe.task.name for recipe in plan.recipes)),
        "models": ", ".join(dict.fromkeys(recipe.model.name for recipe in plan.recipes)),
        "trainings": len(plan.recipes) * plan.seeds,
        "seeds": plan.seeds,
        "steps": _range(training.steps for training in trainings),
        "batch": _range(training.batch for training in trainings),
        "training set": _range(training.samples or "fresh samples in every batch" for training in trainings),
        "optimizer": "; ".join(dict.fromkeys(training.steps_by for training in trainings)),
        "test samples at each point": _range(recipe.evaluation.count for recipe in plan.recipes),
    }


def _range(values: Iterable[Any]) -> str:
    return ", ".join(str(value) for value in dict.fromkeys(values))


def _table(sheets: list[dict[str, Any]]) -> dict[str, Any]:
    """A row for each line of each sheet, a column for each x that any of them has."""
    points = sorted({x for sheet in sheets for line in sheet["lines"] for x in line["x"]})
    rows = []
    for sheet in sheets:
        for line in sheet["lines"]:
            columns = zip(*line["values"], strict=True)
            medians = {
                x: summarise([math.nan if v is None else v for v in column]).median
                for x, column in zip(line["x"], columns, strict=True)
            }
            cells = [_cell(medians[x], sheet["percent"]) if x in medians else "" for x in points]
            rows.append([sheet["title"], line["label"], *cells, f"{len(line['failed'])}"])
    names = dict.fromkeys(f"{sheet['ylabel']} over {sheet['xlabel']}" for sheet in sheets)
    return {
        "headers": ["panel", "model", *(f"{x:g}" for x in points), "failed"],
        "rows": rows,
        "caption": f"Medians over seeds: {'; '.join(names)}.",
    }


def _cell(value: float, percent: bool) -> str:
    if not math.isfinite(value):
        return "failed"
    return f"{value:.1%}" if percent else show_number(value)
