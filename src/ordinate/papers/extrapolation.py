"""Figures of one kind: exact match of several models along the length, and along other axes of the task."""

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from matplotlib.figure import Figure as Drawing

from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.accuracy import accuracy_curves
from ordinate.lab.report.curves import Panel, Series
from ordinate.lab.report.numbers import show_number
from ordinate.lab.studies import Study
from ordinate.papers.aims import Aim, Measured, values_at
from ordinate.papers.measured import Curve, measured
from ordinate.papers.trained import Trained

AXES = {"carries": "run of carries"}
"""What a reader calls an axis, where its name does not say it."""


@dataclass(frozen=True)
class Scale:
    """What a scale trains and aims at."""

    curves: tuple[Curve, ...]
    aims: tuple[Aim, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)


class Extrapolation(Trained):
    """Trains on short inputs and measures far beyond them."""

    unit: ClassVar[str] = "digits of the numbers"
    axes: ClassVar[tuple[str, ...]] = ()
    """The axes that are drawn; all that were measured where none are named."""

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
        curves: dict[str, Measured] = {}
        for curve in setting.curves:
            curves |= measured(curve, study.runs(curve.recipe))
        documents = {label: curve.document for label, curve in curves.items()}
        return {
            "settings": _settings(setting),
            "curves": documents,
            "claims": [aim.claim(curves, scale).to_dict() for aim in setting.aims],
            "table": _table(documents, self.shown(documents)[0]),
            "note": None if setting.aims else _no_verdict(setting),
        }

    def shown(self, curves: dict[str, Any]) -> list[str]:
        """The axes that this figure draws, the one of the table first."""
        there = dict.fromkeys(axis for curve in curves.values() for axis in curve["axes"])
        return [axis for axis in there if not self.axes or axis in self.axes]

    def draw(self, document: dict[str, Any]) -> Drawing:
        """One panel for each axis."""
        curves = document["curves"]
        return accuracy_curves([self._panel(axis, curves) for axis in self.shown(curves)])

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
        return Panel(
            title, f"longest {AXES.get(axis, axis)}", "exact match", series, trained_to=trained, reach=reach
        )

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
        notes += [
            f"{label}: of the checkpoints every {picked['every']} steps, the one best at {picked['point']} on "
            f"{picked['count']} samples of its own; the last one is shown beside it."
            for label, curve in document["curves"].items()
            if (picked := curve.get("picked"))
        ]
        if document.get("note"):
            notes.append(f"This scale: {document['note']}.")
        return notes + [f"Did not end: {line.strip().splitlines()[-1]}" for line in document["not_ended"]]


def _settings(setting: Scale) -> dict[str, Any]:
    recipe = setting.curves[0].recipe
    training = recipe.training
    steps = {curve.recipe.name: curve.recipe.training.steps for curve in setting.curves}
    apart = ", ".join(f"{count} ({name})" for name, count in steps.items())
    return {
        "task": recipe.task.summary,
        "trained on": f"numbers of at most {max(recipe.task.lengths())} digits",
        "steps": training.steps if len(set(steps.values())) == 1 else apart,
        "batch": training.batch,
        "optimizer": training.steps_by,
        "samples at each point": recipe.evaluation.count,
        **setting.settings,
    }


def _table(curves: dict[str, Any], axis: str) -> dict[str, Any]:
    """A row for each curve, a column for each point of an axis."""
    points = sorted({x for curve in curves.values() for x in curve["axes"].get(axis, {"x": []})["x"]})
    rows = []
    for label, curve in curves.items():
        found = curve["axes"].get(axis, {"x": [], "names": []})
        at = dict(zip(found["x"], found["names"], strict=True))
        cells = [_percent(summarise(values_at(curve, at[n])).median) if n in at else "" for n in points]
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
    by = "digits of the numbers" if axis == "length" else f"longest {AXES.get(axis, axis)}"
    return {
        "headers": ["model", "parameters", "samples seen", "seconds", *(f"{n:g}" for n in points), "failed"],
        "rows": rows,
        "caption": f"Exact match by the {by}, median over seeds; seconds of the slowest seed.",
    }


def _no_verdict(setting: Scale) -> str:
    """Say how many seeds there are, where they carry no verdict."""
    seeds = max(curve.seeds for curve in setting.curves)
    return "one seed, no verdict" if seeds == 1 else f"{seeds} seeds, no verdict"


def _percent(share: float) -> str:
    return f"{share:.1%}" if math.isfinite(share) else "failed"
