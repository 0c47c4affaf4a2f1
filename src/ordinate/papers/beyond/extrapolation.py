"""Figures of one kind: exact match of several models along the length, and along other axes of the task."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.figure import Figure as Drawing

from ordinate.evaluation.claims import AtLeast, AtMost, Claim, Predicate
from ordinate.evaluation.statistics import Interval, summarise
from ordinate.figures.accuracy import accuracy_curves
from ordinate.figures.curves import Panel, Series
from ordinate.figures.numbers import show_number
from ordinate.papers.trained import Trained
from ordinate.runs import Run
from ordinate.studies import Study
from ordinate.training import Recipe


@dataclass(frozen=True)
class Curve:
    """One model of a figure: its recipe, how many seeds, and what it was told about the task."""

    recipe: Recipe
    seeds: int
    role: str
    """Colour, marker and line, see `ordinate.figures.style.ROLES`."""
    knowledge: str
    reach: int | None = None
    """Cascades longer than this are out of reach by construction: layers times places back."""

    @property
    def label(self) -> str:
        """What a reader calls the model."""
        return self.recipe.name


@dataclass(frozen=True)
class Aim:
    """A claim about one curve: its median over seeds at a point, or its training time."""

    sentence: str
    curve: str
    point: str
    """Name of a point such as `length=100`, or `seconds`."""
    predicate: Predicate


@dataclass(frozen=True)
class Scale:
    """What a scale trains and aims at."""

    curves: tuple[Curve, ...]
    aims: tuple[Aim, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)


class Extrapolation(Trained):
    """Trains on short inputs and measures far beyond them."""

    unit: ClassVar[str] = "digits of the numbers"

    @abstractmethod
    def scale(self, name: str) -> Scale:
        """What a scale is; called with names in `scales` only."""

    def curve(self, scale: str, label: str) -> Curve:
        """One curve of a scale."""
        return next(curve for curve in self.scale(scale).curves if curve.label == label)

    def study(self, scale: str, store: Path) -> Study:
        """All recipes with their seeds."""
        curves = self.scale(scale).curves
        return Study(
            tuple(curve.recipe for curve in curves),
            tuple(range(max(curve.seeds for curve in curves))),
            store,
            {curve.label: curve.seeds for curve in curves},
        )

    def measure(self, scale: str, study: Study) -> dict[str, Any]:
        """Curves, claims and settings as plain data."""
        setting = self.scale(scale)
        curves = {curve.label: _measured(curve, study.runs(curve.recipe)) for curve in setting.curves}
        return {
            "settings": _settings(setting),
            "curves": curves,
            "claims": [_claim(aim, curves[aim.curve], scale).to_dict() for aim in setting.aims],
            "table": _table(curves),
            "note": None if setting.aims else _no_verdict(setting),
        }

    def draw(self, document: dict[str, Any]) -> Drawing:
        """One panel for each axis."""
        curves = document["curves"]
        axes = list(dict.fromkeys(axis for curve in curves.values() for axis in curve["axes"]))
        return accuracy_curves([self._panel(axis, curves) for axis in axes])

    def _panel(self, axis: str, curves: dict[str, Any]) -> Panel:
        series, there = [], [curve for curve in curves.values() if axis in curve["axes"]]
        trained, reaches = there[0]["trained"], [curve["reach"] for curve in there]
        for label, curve in curves.items():
            if axis not in curve["axes"]:
                continue
            values = curve["axes"][axis]
            rows = [[math.nan if v is None else v for v in row] for row in values["values"]]
            series.append(Series(label, curve["role"], values["x"], rows))
        if axis == "length":
            return Panel("length", self.unit, "exact match", series, trained_to=trained)
        reach = None if None in reaches else max(reaches)
        title = f"{axis}, {there[0]['length']} digits"
        return Panel(title, f"longest {axis}", "exact match", series, trained_to=trained, reach=reach)

    def caption(self, document: dict[str, Any]) -> str:
        """Say what is shown."""
        seeds = ", ".join(f"{label} {len(curve['seconds'])}" for label, curve in document["curves"].items())
        return (
            "Share of samples with every symbol of the answer right. Lines are medians over seeds "
            f"({seeds}); what is shaded was trained."
        )

    def notes(self, document: dict[str, Any]) -> list[str]:
        """Name the knowledge given to each model, averaged weights, and what did not end."""
        notes = [f"Scale {document['scale']}: {self.scales[document['scale']]}."]
        notes += [f"{label}: {curve['knowledge']}." for label, curve in document["curves"].items()]
        averaged = [label for label, curve in document["curves"].items() if curve["averaged"]]
        if averaged:
            notes.append(f"Measured with averaged weights at the last step: {', '.join(averaged)}.")
        if document.get("note"):
            notes.append(f"This scale: {document['note']}.")
        return notes + [f"Did not end: {line.strip().splitlines()[-1]}" for line in document["not_ended"]]


def _measured(curve: Curve, runs: Sequence[Run]) -> dict[str, Any]:
    """Exact match of every seed at every point of every axis, and facts about the runs."""
    records = [run.record() for run in runs]
    scores = [record.get("scores") or {} for record in records]
    evaluation = curve.recipe.evaluation
    trained = max(curve.recipe.task.lengths())
    axes: dict[str, Any] = {}
    for axis, values in evaluation.axes.items():
        names = [f"{axis}={value:g}" for value in values]
        x = [float(value) for value in values]
        if axis == "length":
            names, x = ["validation", *names], [float(trained), *x]
        rows = [[_plain(score.get(name)) for name in names] for score in scores]
        axes[axis] = {"x": x, "names": names, "values": rows}
    return {
        "role": curve.role,
        "knowledge": curve.knowledge,
        "trained": trained,
        "length": evaluation.length,
        "reach": curve.reach,
        "axes": axes,
        "parameters": records[0].get("parameters"),
        "samples_seen": max((record.get("samples_seen") or 0 for record in records), default=0),
        "seconds": [record.get("seconds") for record in records],
        "averaged": any(record.get("averaged") for record in records),
        "failed": [record.get("error") for record in records if record.get("status") != "done"],
    }


def _values(curve: dict[str, Any], point: str) -> list[float]:
    """One number a seed; NaN for a seed that failed."""
    if point == "seconds":
        return [math.nan if s is None else float(s) for s in curve["seconds"]]
    for axis in curve["axes"].values():
        if point in axis["names"]:
            place = axis["names"].index(point)
            return [math.nan if row[place] is None else float(row[place]) for row in axis["values"]]
    raise KeyError(point)


def _claim(aim: Aim, curve: dict[str, Any], scale: str) -> Claim:
    summary = summarise(_values(curve, aim.point))
    measured = summary.interval if summary.count > summary.failed else Interval.unknown(0.95)
    return Claim(aim.sentence, measured, aim.predicate, None, summary.count, summary.failed, scale)  # type: ignore[arg-type]


def at_least(curve: str, point: str, share: float, sentence: str) -> Aim:
    """The median over seeds reaches a share."""
    return Aim(sentence, curve, point, AtLeast(share))


def at_most(curve: str, point: str, value: float, sentence: str) -> Aim:
    """The median over seeds stays below a value."""
    return Aim(sentence, curve, point, AtMost(value))


def _settings(setting: Scale) -> dict[str, Any]:
    recipe = setting.curves[0].recipe
    training = recipe.training
    return {
        "task": recipe.task.summary,
        "trained on": f"numbers of at most {max(recipe.task.lengths())} digits",
        "steps": training.steps,
        "batch": training.batch,
        "optimizer": f"{training.optimizer.name}, rate {training.optimizer.learning_rate:g}, "
        f"weight decay {training.optimizer.weight_decay:g}, {training.schedule.name}",
        "samples at each point": recipe.evaluation.count,
        **setting.settings,
    }


def _table(curves: dict[str, Any]) -> dict[str, Any]:
    lengths = sorted({x for curve in curves.values() for x in curve["axes"].get("length", {"x": []})["x"]})
    rows = []
    for label, curve in curves.items():
        axis = curve["axes"].get("length", {"x": [], "names": []})
        at = dict(zip(axis["x"], axis["names"], strict=True))
        cells = [_percent(summarise(_values(curve, at[n])).median) if n in at else "" for n in lengths]
        seconds = [s for s in curve["seconds"] if s is not None]
        rows.append(
            [
                label,
                str(curve["parameters"]),
                show_number(curve["samples_seen"]),
                show_number(max(seconds)) if seconds else "",
                *cells,
                f"{len(curve['failed'])} of {len(curve['seconds'])}",
            ]
        )
    return {
        "headers": ["model", "parameters", "samples seen", "seconds", *(f"{n:g}" for n in lengths), "failed"],
        "rows": rows,
        "caption": "Exact match by the digits of the numbers, median over seeds; seconds of the slowest seed.",
    }


def _no_verdict(setting: Scale) -> str:
    """Say how many seeds there are, where they carry no verdict."""
    seeds = max(curve.seeds for curve in setting.curves)
    return "one seed, no verdict" if seeds == 1 else f"{seeds} seeds, no verdict"


def _percent(share: float) -> str:
    return f"{share:.1%}" if math.isfinite(share) else "failed"


def _plain(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
