"""Figures made of curves: several models, each measured along the length and other axes of its task.

A `Curve` is one model with its seeds; `Curves` are those of a scale, with what is claimed of them. Everything is exact
match, and stands beside parameters, samples and seconds. Where a checkpoint is picked, the last one is a curve beside.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from numpy import ndarray
from typing_extensions import override

from ordinate.lab.evaluation.statistics import split_failed, summarise
from ordinate.lab.report.accuracy import accuracy_curves
from ordinate.lab.report.curves import Panel, Series
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.style import LAST
from ordinate.lab.runs import Run
from ordinate.lab.studies import Study
from ordinate.lab.training import Recipe
from ordinate.papers.aims import SECONDS, Aim, Found, Where
from ordinate.papers.figure import Document, Figure, cell, number, plain

AXES = {"length": "digits of the numbers", "carries": "longest run of carries"}
"""What a reader calls an axis, where it is not the longest of something."""


@dataclass(frozen=True)
class Curve:
    """One model of a figure: its recipe, how many seeds, and what it was told about the task."""

    recipe: Recipe
    seeds: int
    look: str
    """Colour, marker and line, see `ordinate.lab.report.style.ROLES`."""
    knowledge: str
    reach: int | None = None
    """Cascades longer than this are out of reach by construction: layers times places back."""

    @property
    def label(self) -> str:
        """What a reader calls the model."""
        return self.recipe.name


@dataclass(frozen=True)
class Curves:
    """What a scale trains, and what is claimed of it."""

    curves: tuple[Curve, ...]
    aims: tuple[Aim, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    axes: tuple[str, ...] = ()
    """The axes that are drawn, the one of the table first; all that were measured where none are named."""

    def study(self, store: Path) -> Study:
        """All recipes, each with its seeds."""
        seeds = {curve.label: curve.seeds for curve in self.curves}
        recipes = tuple(curve.recipe for curve in self.curves)
        return Study(recipes, tuple(range(max(seeds.values()))), store, seeds)

    def measure(self, study: Study, scale: str) -> Document:
        """Curves, claims and settings as plain data."""
        found = Measured({})
        for curve in self.curves:
            found.curves.update(measured(curve, study.runs(curve.recipe)))
        documents = {label: document for label, (document, _) in found.curves.items()}
        return {
            "settings": self._settings(),
            "curves": documents,
            "claims": [aim.claim(found, scale).to_dict() for aim in self.aims],
            "table": _table(documents, _shown(documents, self.axes)[0]),
            "note": None if self.aims else self._no_verdict(),
        }

    def _settings(self) -> dict[str, Any]:
        recipe = self.curves[0].recipe
        steps = {curve.recipe.name: curve.recipe.training.steps for curve in self.curves}
        apart = ", ".join(f"{count} ({name})" for name, count in steps.items())
        return {
            "task": recipe.task.summary,
            "trained on": f"numbers of at most {max(recipe.task.lengths())} digits",
            "steps": recipe.training.steps if len(set(steps.values())) == 1 else apart,
            "batch": recipe.training.batch,
            "optimizer": recipe.training.steps_by,
            "samples at each point": recipe.evaluation.count,
            **self.settings,
        }

    def _no_verdict(self) -> str:
        seeds = max(curve.seeds for curve in self.curves)
        return "one seed, no verdict" if seeds == 1 else f"{seeds} seeds, no verdict"


def curves_figure(
    name: str, title: str, summary: str, scales: Mapping[str, str], *, axes: tuple[str, ...] = ()
) -> Callable[[Callable[[str], Curves]], Figure]:
    """Makes a figure of the function below it, which gives the curves of a scale; `axes` are those that are drawn."""
    return lambda plan: Figure(
        name,
        title,
        summary,
        scales,
        draw=partial(draw, axes=axes),
        caption=caption,
        plan=lambda scale: replace(plan(scale), axes=axes),
        notes=notes,
    )


Errors = dict[str, Float[ndarray, "seed sample"]]


@dataclass(frozen=True)
class Measured(Found):
    """Curves as measured: the plain document of each, and whether each test sample was wrong, by point and seed."""

    curves: dict[str, tuple[Document, Errors]]

    @override
    def values(self, at: Where) -> list[float]:
        label, point = at  # type: ignore[misc]
        return values_at(self.curves[label][0], point)

    @override
    def errors(self, at: Where) -> tuple[Float[ndarray, "seed sample"], int]:
        label, point = at  # type: ignore[misc]
        return split_failed(self.curves[label][1][point])


def values_at(curve: Document, point: str) -> list[float]:
    """The numbers of all seeds at a point of a curve's document; NaN for a seed that failed."""
    if point == SECONDS:
        return [number(seconds) for seconds in curve["seconds"]]
    for axis in curve["axes"].values():
        if point in axis["names"]:
            place = axis["names"].index(point)
            return [number(row[place]) for row in axis["values"]]
    raise KeyError(point)


def measured(curve: Curve, runs: Sequence[Run]) -> dict[str, tuple[Document, Errors]]:
    """The curve by its label; where its checkpoint is picked, the last checkpoint as a curve of its own beside it."""
    if curve.recipe.training.pick is None:
        return {curve.label: _measured(curve, runs, picked=False)}
    return {
        curve.label: _measured(curve, runs, picked=True),
        f"{curve.label}{LAST}": _measured(curve, runs, picked=False),
    }


def _measured(curve: Curve, runs: Sequence[Run], *, picked: bool) -> tuple[Document, Errors]:
    """Exact match of every seed at every point of every axis, facts about the runs, and all errors."""
    records = [run.record() for run in runs]
    chosen = [(record.get("picked") or {}) if picked else record for record in records]
    scores = [one.get("scores") or {} for one in chosen]
    recipe, pick = curve.recipe, curve.recipe.training.pick
    trained = max(recipe.task.lengths())
    axes: dict[str, Any] = {}
    for axis, values in recipe.evaluation.axes.items():
        names = [f"{axis}={value:g}" for value in values]
        x = [float(value) for value in values]
        if axis == "length":
            names, x = ["validation", *names], [float(trained), *x]
        rows = [[plain(score.get(name)) for name in names] for score in scores]
        axes[axis] = {"x": x, "names": names, "values": rows}
    document = {
        "role": curve.look if picked or pick is None else f"{curve.look}{LAST}",
        "knowledge": curve.knowledge,
        "trained": trained,
        "length": recipe.evaluation.length,
        "reach": curve.reach,
        "axes": axes,
        "parameters": records[0].get("parameters"),
        "samples_seen": max((record.get("samples_seen") or 0 for record in records), default=0),
        "seconds": [record.get("seconds") for record in records],
        "averaged": any(record.get("averaged") for record in records),
        "picked": None,
        "failed": [record.get("error") for record in records if record.get("status") != "done"],
    }
    if picked and pick is not None:
        document["picked"] = {
            "point": f"{pick.axis}={pick.value:g}",
            "count": pick.count,
            "every": pick.every,
            "steps": [one.get("step") for one in chosen],
        }
    return document, _errors(runs, axes, "errors-picked" if picked else "errors")


def _errors(runs: Sequence[Run], axes: dict[str, Any], name: str) -> Errors:
    """Whether each test sample was wrong, one row a seed; NaN for a seed that did not end."""
    arrays = [run.load_arrays(name) if run.status == "done" else {} for run in runs]
    found = {}
    for point in (point for axis in axes.values() for point in axis["names"]):
        count = max((len(array[point]) for array in arrays if point in array), default=1)
        rows = [array[point].numpy() if point in array else np.full(count, np.nan) for array in arrays]
        found[point] = np.stack(rows).astype(np.float64)
    return found


def _shown(curves: dict[str, Any], axes: tuple[str, ...]) -> list[str]:
    there = dict.fromkeys(axis for curve in curves.values() for axis in curve["axes"])
    return [axis for axis in there if not axes or axis in axes]


def _table(curves: dict[str, Any], axis: str) -> Document:
    """A row for each curve, a column for each point of an axis."""
    points = sorted({x for curve in curves.values() for x in curve["axes"].get(axis, {"x": []})["x"]})
    rows = []
    for label, curve in curves.items():
        found = curve["axes"].get(axis, {"x": [], "names": []})
        at = dict(zip(found["x"], found["names"], strict=True))
        medians = {n: summarise(values_at(curve, name)).median for n, name in at.items()}
        cells = [cell(medians[n], percent=True) if n in medians else "" for n in points]
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
        "headers": ["model", "parameters", "samples seen", "seconds", *(f"{n:g}" for n in points), "failed"],
        "rows": rows,
        "caption": f"Exact match by the {_called(axis)}, median over seeds; seconds of the slowest seed.",
    }


def _called(axis: str) -> str:
    return AXES.get(axis, f"longest {axis}")


def draw(document: Document, axes: tuple[str, ...] = ()) -> Drawing:
    """One panel for each axis."""
    curves = document["curves"]
    return accuracy_curves([_panel(axis, curves) for axis in _shown(curves, axes)])


def _panel(axis: str, curves: dict[str, Any]) -> Panel:
    there = {label: curve for label, curve in curves.items() if axis in curve["axes"]}
    first, reaches = next(iter(there.values())), [curve["reach"] for curve in there.values()]
    series = [
        Series(
            label,
            curve["role"],
            curve["axes"][axis]["x"],
            [[number(v) for v in row] for row in curve["axes"][axis]["values"]],
        )
        for label, curve in there.items()
    ]
    of_length = axis == "length"
    return Panel(
        "exact match by length" if of_length else f"exact match by {axis}, {first['length']} digits",
        _called(axis),
        "exact match",
        series,
        trained_to=first["trained"],
        reach=None if of_length or None in reaches else max(reaches),
    )


def caption(document: Document) -> str:
    """What lines and shades are, and how many seeds."""
    seeds = ", ".join(f"{label} {len(curve['seconds'])}" for label, curve in document["curves"].items())
    return (
        "Share of samples with every symbol of the answer right. Lines are medians over seeds "
        f"({seeds}); what is shaded was trained."
    )


def notes(document: Document) -> list[str]:
    """The knowledge given to each model, averaged weights, and picked checkpoints."""
    curves = document["curves"]
    notes = [f"{label}: {curve['knowledge']}." for label, curve in curves.items()]
    averaged = [label for label, curve in curves.items() if curve["averaged"]]
    if averaged:
        notes.append(f"Measured with averaged weights at the last step: {', '.join(averaged)}.")
    return notes + [
        f"{label}: of the checkpoints every {picked['every']} steps, the one best at {picked['point']} on "
        f"{picked['count']} samples of its own; the last one is shown beside it."
        for label, curve in curves.items()
        if (picked := curve.get("picked"))
    ]
