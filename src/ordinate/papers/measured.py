"""Curves of a figure: a model with its seeds, and what its runs measured, as plain data."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.lab.report.style import LAST
from ordinate.lab.runs import Run
from ordinate.lab.training import Recipe
from ordinate.papers.aims import Measured


@dataclass(frozen=True)
class Curve:
    """One model of a figure: its recipe, how many seeds, and what it was told about the task."""

    recipe: Recipe
    seeds: int
    role: str
    """Colour, marker and line, see `ordinate.lab.report.style.ROLES`."""
    knowledge: str
    reach: int | None = None
    """Cascades longer than this are out of reach by construction: layers times places back."""

    @property
    def label(self) -> str:
        """What a reader calls the model."""
        return self.recipe.name


def measured(curve: Curve, runs: Sequence[Run]) -> dict[str, Measured]:
    """The curve by its label; where its checkpoint is picked, the last checkpoint as a curve of its own beside it."""
    if curve.recipe.training.pick is None:
        return {curve.label: _measured(curve, runs, picked=False)}
    return {
        curve.label: _measured(curve, runs, picked=True),
        f"{curve.label}{LAST}": _measured(curve, runs, picked=False),
    }


def _measured(curve: Curve, runs: Sequence[Run], *, picked: bool) -> Measured:
    """Exact match of every seed at every point of every axis, and facts about the runs."""
    records = [run.record() for run in runs]
    chosen = [(record.get("picked") or {}) if picked else record for record in records]
    scores = [one.get("scores") or {} for one in chosen]
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
    document = {
        "role": curve.role if picked or curve.recipe.training.pick is None else f"{curve.role}{LAST}",
        "knowledge": curve.knowledge,
        "trained": trained,
        "length": evaluation.length,
        "reach": curve.reach,
        "axes": axes,
        "parameters": records[0].get("parameters"),
        "samples_seen": max((record.get("samples_seen") or 0 for record in records), default=0),
        "seconds": [record.get("seconds") for record in records],
        "averaged": any(record.get("averaged") for record in records),
        "picked": _picked(curve, records) if picked else None,
        "failed": [record.get("error") for record in records if record.get("status") != "done"],
    }
    return Measured(document, _errors(runs, axes, "errors-picked" if picked else "errors"))


def _picked(curve: Curve, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Where checkpoints were compared, and the steps that were picked."""
    pick = curve.recipe.training.pick
    assert pick is not None
    steps = [(record.get("picked") or {}).get("step") for record in records]
    return {"point": f"{pick.axis}={pick.value:g}", "count": pick.count, "every": pick.every, "steps": steps}


def _errors(runs: Sequence[Run], axes: dict[str, Any], name: str) -> dict[str, Float[ndarray, "seed sample"]]:
    """Whether each test sample was wrong, one row a seed; NaN for a seed that did not end."""
    arrays = [run.load_arrays(name) if run.status == "done" else {} for run in runs]
    found = {}
    for point in (point for axis in axes.values() for point in axis["names"]):
        count = max((len(array[point]) for array in arrays if point in array), default=1)
        rows = [array[point].numpy() if point in array else np.full(count, np.nan) for array in arrays]
        found[point] = np.stack(rows).astype(np.float64)
    return found


def _plain(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
