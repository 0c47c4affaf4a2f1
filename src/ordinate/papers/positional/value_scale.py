"""Value generalization (v1 Fig. 2, v3 Fig. 4): errors on values up to ten times larger than any seen in training."""

import math
from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from numpy import ndarray
from typing_extensions import override

from ordinate.lab.evaluation.predicates import AtLeast, Within
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.curves import Panel, Series, value_curves
from ordinate.lab.report.numbers import show_number
from ordinate.lab.runs import Run
from ordinate.lab.studies import Study, errors_at, scores_at
from ordinate.papers.aims import Aim, Found, Point, Ratio, Where, Widens
from ordinate.papers.figure import Document, Figure, Runs, number, plain, published
from ordinate.papers.positional.sizes import MODELS, SCALES, SETTINGS, ValueScale, recipe_for

POINTS = ("validation", *(f"scale={c:g}" for c in SCALES))


def plan(scale: str) -> Runs:
    """Both models on every task, c = 1 .. 10."""
    setting = SETTINGS[scale]
    recipes = tuple(recipe_for(task, model, scale) for task in setting.tasks for model in MODELS)
    return Runs(recipes, setting.seeds, measure)


def measure(study: Study, scale: str) -> Document:
    """Curves, claims and settings as plain data."""
    setting = SETTINGS[scale]
    known = published("positional")["value-scale"]
    curves, claims = {}, []
    for task in setting.tasks:
        runs = {model: study.runs(recipe_for(task, model, scale)) for model in MODELS}
        curves[task] = {model: _curve(runs[model], known[task][model]) for model in MODELS}
        found = Measured(runs, known[task])
        claims += [aim.claim(found, scale).to_dict() for aim in aims(task, known[task])]
    return {
        "settings": _settings(setting),
        "published_source": known["source"],
        "curves": curves,
        "claims": claims,
        "table": _table(curves),
    }


def aims(task: str, known: Document) -> list[Aim]:
    """The paper's claims on one task."""

    def ratio(point: str, c: str, sentence: str) -> Ratio:
        order = 10.0 ** math.floor(math.log10(known["standard"][c] / known["positional"][c]))
        return Ratio(sentence, AtLeast(order), Point("positional", point), Point("standard", point))

    return [
        Ratio(
            f"{task}: in distribution the two models are comparable (error of standard / positional).",
            Within(10),
            Point("positional", "validation"),
            Point("standard", "validation"),
        ),
        ratio("scale=2", "2", f"{task}: at c = 2 positional is better by the published order of magnitude."),
        ratio(
            "scale=10", "10", f"{task}: at c = 10 positional is better by the published order of magnitude."
        ),
        Widens(
            f"{task}: the gap grows with c (slope of log ratio over log c).",
            AtLeast(0),
            tuple(Point("positional", point) for point in POINTS[1:]),
            tuple(Point("standard", point) for point in POINTS[1:]),
            SCALES,
        ),
    ]


class Measured(Found):
    """The runs of both models on one task, and the published errors."""

    def __init__(self, runs: dict[str, list[Run]], known: Document) -> None:
        self.runs, self.known = runs, known

    @override
    def values(self, at: Where) -> list[float]:
        model, point = at  # type: ignore[misc]
        return scores_at(self.runs[model], point)

    @override
    def errors(self, at: Where) -> tuple[Float[ndarray, "seed sample"], int]:
        model, point = at  # type: ignore[misc]
        return errors_at(self.runs[model], point)

    @override
    def published(self, at: Where) -> float | None:
        model, point = at  # type: ignore[misc]
        known: dict[str, float] = self.known[model]
        return known.get(point.removeprefix("scale="))


def _curve(runs: Sequence[Run], known: dict[str, float]) -> Document:
    """Errors of every seed at every point, with summaries, parameters and samples seen."""
    values = {point: scores_at(runs, point) for point in POINTS}
    records = [run.record() for run in runs]
    return {
        "values": [[plain(values[point][k]) for point in POINTS[1:]] for k in range(len(runs))],
        "validation": [plain(value) for value in values["validation"]],
        "summary": {point: summarise(values[point]).to_dict() for point in POINTS},
        "published": known,
        "parameters": records[0].get("parameters"),
        "samples_seen": max((record.get("samples_seen", 0) for record in records), default=0),
        "training_seconds": [record.get("seconds") for record in records],
        "failed": [record.get("error") for record in records if record.get("status") != "done"],
    }


def _settings(setting: ValueScale) -> dict[str, Any]:
    training = setting.training
    return {
        "tasks": ", ".join(setting.tasks),
        "length": 8,
        "seeds": setting.seeds,
        "steps": training.steps,
        "batch": training.batch,
        "training set": training.samples or "fresh samples in every batch",
        "optimizer": training.optimizer.name,
        "learning rate": training.optimizer.learning_rate,
        "schedule": training.schedule.name,
        "test samples at each c": setting.count,
    }


def _table(curves: dict[str, Any]) -> Document:
    shown = {"in distribution": "validation", "c = 2": "scale=2", "c = 10": "scale=10"}
    rows = []
    for task, by_model in curves.items():
        for model, curve in by_model.items():
            cells = []
            for point in shown.values():
                known = curve["published"][point.removeprefix("scale=")]
                cells += [show_number(curve["summary"][point]["median"]), show_number(known)]
            facts = [task, model, str(curve["parameters"]), str(curve["samples_seen"])]
            rows.append([*facts, *cells, f"{len(curve['failed'])} of {len(curve['values'])}"])
    columns = (name for point in shown for name in (point, "published"))
    return {
        "headers": ["task", "model", "parameters", "samples seen", *columns, "failed"],
        "rows": rows,
        "caption": "Mean squared error, median over seeds, beside the published median of 10 runs.",
    }


def draw(document: Document) -> Drawing:
    """One panel a task."""
    return value_curves(
        [
            Panel(
                title=task,
                xlabel="scale c of the values",
                ylabel="mean squared error",
                series=[_series(model, curve) for model, curve in by_model.items()],
            )
            for task, by_model in document["curves"].items()
        ]
    )


def _series(model: str, curve: Document) -> Series:
    values = [[number(v) for v in row] for row in curve["values"]]
    known = {float(c): v for c, v in curve["published"].items() if c != "validation"}
    known[1.0] = curve["published"]["validation"]
    return Series(model, model, list(SCALES), values, known)


def notes(document: Document) -> list[str]:
    """What is not matched between the models, and how few samples a laptop's models have seen."""
    first = next(iter(document["curves"].values()))
    sizes = " against ".join(str(curve["parameters"]) for curve in first.values())
    notes = [
        "Reported is the last checkpoint. Training data are the same for both models of a seed; the two are not "
        f"matched in parameters ({sizes}), as published.",
        "Intervals: bootstrap over seeds and, for ratios, over the test samples inside each seed.",
    ]
    if document["scale"] == "laptop":
        theirs, ours = SETTINGS["paper"].training, SETTINGS["laptop"].training
        share = theirs.steps * theirs.batch / (ours.steps * ours.batch)
        notes.append(
            f"The published models saw {share:.0f} times the samples. Near the training range the error of the "
            "positional model is still that of a short training, so that a ratio below the published one speaks of "
            "this scale first."
        )
    return notes


FIGURES = (
    Figure(
        "positional/value-scale",
        "Positional attention on values never seen",
        "Mean squared error on sequences of 8 numbers from [-2c, 2c], for models trained on [-2, 2]: attention "
        "weights that depend on positions only, against standard attention.",
        {name: setting.description for name, setting in SETTINGS.items()},
        draw=draw,
        caption="Median over {settings[seeds]} seeds with the 10-90 % band; dots are single seeds, hollow marks the "
        "published medians where they are known. c = 1 is the training distribution.",
        plan=plan,
        notes=notes,
    ),
)
