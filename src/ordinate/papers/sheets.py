"""Figures made of sheets: panels of lines over whatever recipes differ in (depth, samples, an axis of the task).

A `Spot` is one number, a recipe measured at a point; a `Line` joins spots; a `Sheet` is a panel of lines. Everything
that a figure trains, draws and claims is read off its `Sheets`, a function of the scale.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from numpy import ndarray
from typing_extensions import override

from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.curves import Panel, Series, value_curves
from ordinate.lab.runs import Run
from ordinate.lab.studies import Study, errors_at
from ordinate.lab.tasks import Task
from ordinate.lab.training import Evaluation, Recipe, Training
from ordinate.models import ModelSettings
from ordinate.papers.aims import Aim, Found, Where
from ordinate.papers.figure import Document, Figure, cell, number, plain


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How the models of a scale are trained and tested; a figure adds sizes of its own."""

    training: Training
    seeds: int
    count: int
    """Test samples at every point."""
    differs: str = ""
    """In what the scale differs from the published setting."""

    def recipe(
        self,
        name: str,
        task: Task,
        model: ModelSettings,
        axes: Mapping[str, tuple[float, ...]] | None = None,
        **training: Any,
    ) -> Recipe:
        """One model on one task; `training` changes single settings of the scale's training."""
        return Recipe(
            name=name,
            task=task,
            model=self.sized(model),
            training=self.training.model_copy(update=training),
            evaluation=Evaluation(count=self.count, axes=dict(axes or {})),
        )

    def sized(self, model: ModelSettings) -> ModelSettings:
        """The model with the sizes that all models of this scale have; here it has its own."""
        return model


@dataclass(frozen=True)
class Column:
    """A number of a run at a point, as a reader calls it; drawn in per cent, or on a logarithmic axis."""

    label: str
    read: Callable[[Run, str], float] | None = None
    """Called with runs that ended and a point; a sheet whose lines are all computed has none."""
    percent: bool = False


def points_of(run: Run) -> dict[str, Document]:
    """The points that a run stored when it ended, by name."""
    points = run.read_result("evaluation")
    return {f"{p['axis']}={p['value']:g}": p for p in points} | {"validation": points[0]}


def stored(field: str) -> Callable[[Run, str], float]:
    """A field of the points of a run."""
    return lambda run, point: float(points_of(run)[point][field])


MSE = Column("mean squared error", stored("mse"))
ACCURACY = Column("accuracy", stored("accuracy"), percent=True)
SYMBOLS = Column("symbols right", stored("symbol_accuracy"), percent=True)
ENTROPY = Column("cross-entropy", stored("cross_entropy"))
PERPLEXITY = Column(
    "perplexity of a character", lambda run, point: math.exp(stored("cross_entropy")(run, point))
)


@dataclass(frozen=True)
class Spot:
    """A recipe, and the point at which its runs are measured."""

    recipe: Recipe
    point: str = "validation"


@dataclass(frozen=True)
class Line:
    """One model over the numbers of an axis; `look` is a key of `ordinate.lab.report.style.ROLES`."""

    label: str
    look: str
    spots: Mapping[float, Spot]
    published: Mapping[float, float] = field(default_factory=dict)

    @classmethod
    def along(
        cls,
        axis: str,
        recipe: Recipe,
        label: str,
        look: str,
        published: Mapping[float, float] | None = None,
        *,
        xs: Sequence[float] = (),
    ) -> "Line":
        """One recipe along an axis: at the points of its evaluation, or at others that the column can read."""
        spots = {x: Spot(recipe, f"{axis}={x:g}") for x in xs or recipe.evaluation.axes[axis]}
        return cls(label, look, spots, published or {})

    @classmethod
    def over(cls, recipes: Mapping[int, Recipe], label: str, look: str, point: str = "validation") -> "Line":
        """A recipe for every x, all measured at the same point."""
        return cls(label, look, {float(x): Spot(recipe, point) for x, recipe in recipes.items()})


@dataclass(frozen=True)
class Exact:
    """A line that is computed when the figure is, not trained: the best that a model can express, or a bound."""

    label: str
    look: str
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
class Sheets:
    """What a scale trains, draws and claims."""

    sheets: Sequence[Sheet]
    aims: Sequence[Aim] = ()
    seeds: int = 3
    differs: str = ""
    """In what the scale differs from the published setting, and what else a reader must know."""
    columns: int | None = None
    """Panels side by side, where the number of sheets does not say it."""
    calls: Mapping[str, Callable[..., str]] = field(default_factory=dict)
    """What trains a recipe, by its name, where it is not the loop of this library (`Study.calls`)."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else the document holds, for a drawing of its own."""

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """Every recipe once."""
        lines = (line for sheet in self.sheets for line in sheet.lines if isinstance(line, Line))
        spots = (spot for line in lines for spot in line.spots.values())
        return tuple({repr(spot.recipe.to_dict()): spot.recipe for spot in spots}.values())

    def study(self, store: Path) -> Study:
        """Every recipe with every seed."""
        return Study(self.recipes, tuple(range(self.seeds)), store, calls=self.calls)

    def measure(self, study: Study, scale: str) -> Document:
        """Sheets, claims and settings as plain data."""
        sheets = [_sheet(sheet, study) for sheet in self.sheets]
        found = Measured(self.sheets, study, sheets)
        return {
            "settings": self._settings(),
            "sheets": sheets,
            "columns": self.columns or (2 if len(sheets) in (2, 4) else 3),
            "differs": self.differs,
            "claims": [aim.claim(found, scale).to_dict() for aim in self.aims],
            "table": _table(sheets),
            **self.facts,
        }

    def _settings(self) -> dict[str, Any]:
        """What all recipes share, and the range of what they do not."""
        trainings = [recipe.training for recipe in self.recipes]
        return {
            "tasks": _range(recipe.task.name for recipe in self.recipes),
            "models": _range(recipe.model.name for recipe in self.recipes),
            "trainings": len(self.recipes) * self.seeds,
            "seeds": self.seeds,
            "steps": _range(training.steps for training in trainings),
            "batch": _range(training.batch for training in trainings),
            "training set": _range(
                training.samples or "fresh samples in every batch" for training in trainings
            ),
            "optimizer": "; ".join(dict.fromkeys(training.steps_by for training in trainings)),
            "test samples at each point": _range(recipe.evaluation.count for recipe in self.recipes),
        }


class Measured(Found):
    """What the runs of a study measured, by sheet, line and x."""

    def __init__(self, sheets: Sequence[Sheet], study: Study, documents: list[Document]) -> None:
        self.lines = {
            (s.title, line.label): line for s in sheets for line in s.lines if isinstance(line, Line)
        }
        self.documents = {(s["title"], line["label"]): line for s in documents for line in s["lines"]}
        self.study = study

    @override
    def values(self, at: Where) -> list[float]:
        sheet, label, x = at  # type: ignore[misc]
        line = self.documents[sheet, label]
        column = line["x"].index(x)
        return [number(row[column]) for row in line["values"]]

    @override
    def errors(self, at: Where) -> tuple[Float[ndarray, "seed sample"], int]:
        sheet, label, x = at  # type: ignore[misc]
        spot = self.lines[sheet, label].spots[x]
        return errors_at(self.study.runs(spot.recipe), spot.point)

    @override
    def published(self, at: Where) -> float | None:
        sheet, label, x = at  # type: ignore[misc]
        return self.lines[sheet, label].published.get(x)


def _sheet(sheet: Sheet, study: Study) -> Document:
    return {
        "title": sheet.title,
        "xlabel": sheet.xlabel,
        "ylabel": sheet.column.label,
        "percent": sheet.column.percent,
        "trained_to": sheet.trained_to,
        "log_x": sheet.log_x,
        "lines": [_line(line, sheet.column, study) for line in sheet.lines],
    }


def _line(line: Line | Exact, column: Column, study: Study) -> Document:
    """The column at every x, a row a seed, and facts about the runs; one row for what is computed."""
    if isinstance(line, Exact):
        row = [plain(value) for value in map(line.compute, line.xs)]
        facts = {"label": line.label, "role": line.look, "x": list(line.xs), "values": [row]}
        return facts | {"exact": True, "published": {}, "parameters": [], "seconds": 0.0, "failed": []}
    runs = {x: study.runs(spot.recipe) for x, spot in line.spots.items()}
    columns = [[_value(run, line.spots[x].point, column) for run in at] for x, at in runs.items()]
    records = {run.id: run.record() for at in runs.values() for run in at}
    return {
        "label": line.label,
        "role": line.look,
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
    assert column.read is not None
    return plain(column.read(run, point)) if run.status == "done" else None


def _range(values: Iterable[Any]) -> str:
    return ", ".join(str(value) for value in dict.fromkeys(values))


def _table(sheets: list[Document]) -> Document:
    """A row for each line of each sheet, a column for each x that any of them has."""
    points = sorted({x for sheet in sheets for line in sheet["lines"] for x in line["x"]})
    rows = []
    for sheet in sheets:
        for line in sheet["lines"]:
            columns = zip(*line["values"], strict=True)
            medians = {
                x: summarise([number(v) for v in column]).median
                for x, column in zip(line["x"], columns, strict=True)
            }
            cells = [cell(medians[x], percent=sheet["percent"]) if x in medians else "" for x in points]
            rows.append([sheet["title"], line["label"], *cells, f"{len(line['failed'])}"])
    names = dict.fromkeys(f"{sheet['ylabel']} over {sheet['xlabel']}" for sheet in sheets)
    return {
        "headers": ["panel", "model", *(f"{x:g}" for x in points), "failed"],
        "rows": rows,
        "caption": f"Medians over seeds: {'; '.join(names)}.",
    }


def draw_sheets(document: Document) -> Drawing:
    """One panel a sheet."""
    return value_curves(panels(document), columns=document["columns"])


def panels(document: Document) -> list[Panel]:
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


def _series(line: Document) -> Series:
    values = [[number(v) for v in row] for row in line["values"]]
    known = {float(x): value for x, value in line["published"].items()}
    return Series(line["label"], line["role"], line["x"], values, known)


def caption_of(document: Document) -> str:
    """What lines, bands and marks are."""
    lines = [line for sheet in document["sheets"] for line in sheet["lines"]]
    seeds = max(len(line["values"]) for line in lines)
    known = "; hollow marks are published values" if any(line["published"] for line in lines) else ""
    computed = dict.fromkeys(line["label"] for line in lines if line["exact"])
    exact = f"; computed, not trained: {', '.join(computed)}" if computed else ""
    return f"Median over {seeds} seeds with the 10-90 % band; dots are single seeds{known}{exact}."


def notes(document: Document) -> list[str]:
    """In what the scale differs from the published setting, and what intervals are."""
    differs = [document["differs"]] if document["differs"] else []
    return [
        *differs,
        "Intervals: bootstrap over seeds and, for ratios, over the test samples inside each seed.",
    ]


def sheets_figure(
    name: str,
    title: str,
    summary: str,
    scales: Mapping[str, str],
    *,
    draw: Callable[[Document], Drawing] = draw_sheets,
    caption: str | Callable[[Document], str] = caption_of,
) -> Callable[[Callable[[str], Sheets]], Figure]:
    """Makes a figure of the function below it, which gives the sheets of a scale; one panel each unless drawn apart."""
    return lambda plan: Figure(
        name, title, summary, scales, draw=draw, caption=caption, plan=plan, notes=notes
    )
