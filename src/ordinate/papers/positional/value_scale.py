"""Value generalization (v1 Fig. 2, v3 Fig. 4): errors on values up to ten times larger than any seen in training.

Its scales and models are those of the other figures on numbers as well: `paper` as published, `laptop` what 2 cores can
do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from numpy import ndarray
from typing_extensions import override

from ordinate.lab.architectures import Positional, Standard
from ordinate.lab.evaluation.predicates import AtLeast, Within
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.curves import Panel, Series, value_curves
from ordinate.lab.report.numbers import show_number
from ordinate.lab.runs import Run
from ordinate.lab.studies import Study, errors_at, scores_at
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import Adam, Cosine, Plateau, Recipe, Training
from ordinate.papers.aims import Aim, Found, Point, Ratio, Where, Widens
from ordinate.papers.figure import SMOKE, Document, Figure, Runs, number, plain, published
from ordinate.papers.sheets import Scale

TASKS = ("sum", "min", "median", "sort", "max-subarray")
MODELS = {"positional": Positional(), "standard": Standard()}
SCALES = tuple(float(c) for c in range(1, 11))
"""How many times as large as in training values are: c."""


@dataclass(frozen=True, kw_only=True)
class ValueScale(Scale):
    """One scale of the value-scale figure."""

    description: str
    tasks: tuple[str, ...]


_SHORT = Training(
    batch=256,
    optimizer=Adam(learning_rate=3e-3, betas=(0.9, 0.99)),
    schedule=Cosine(warmup=0.05),
    clip=1.0,
)
"""A recipe for few steps: a higher rate than published, made safe by warm-up, clipping and a shorter memory."""

SETTINGS = {
    "smoke": ValueScale(
        description=SMOKE,
        tasks=TASKS,
        seeds=2,
        training=_SHORT.model_copy(update={"steps": 20, "log_every": 5}),
        count=100,
    ),
    "demo": ValueScale(
        description="two tasks, three seeds, some minutes; no verdict",
        tasks=("sum", "min"),
        seeds=3,
        training=_SHORT.model_copy(update={"steps": 2000}),
        count=1000,
    ),
    "laptop": ValueScale(
        description="five tasks, three seeds, at most 25 minutes on 2 cores",
        tasks=TASKS,
        seeds=3,
        training=_SHORT.model_copy(update={"steps": 3500}),
        count=1000,
    ),
    "paper": ValueScale(
        description="as published: 2001 epochs of 30 000 samples, ten runs",
        tasks=TASKS,
        seeds=10,
        training=Training(
            steps=2001 * 30,
            batch=1000,
            samples=30_000,
            optimizer=Adam(learning_rate=5e-4),
            schedule=Plateau(patience=50, factor=0.9, least=1e-6),
            log_every=300,
        ),
        count=1000,
    ),
}


def recipe_for(task: str, model: str, scale: str) -> Recipe:
    """One curve of the value-scale figure.

    >>> recipe_for("sum", "positional", "paper").training.steps
    60030
    """
    what = make_task(task, length=8)
    return SETTINGS[scale].recipe(f"{task}-{model}", what, MODELS[model], {"scale": SCALES})


def both(
    size: Scale, name: str, task: Task, axes: dict[str, tuple[float, ...]], **training: Any
) -> dict[str, Recipe]:
    """The positional and the standard model on a task."""
    return {
        label: size.recipe(f"{name}-{label}", task, model, axes, **training)
        for label, model in MODELS.items()
    }


SIZES = {
    "smoke": Scale(
        training=SETTINGS["smoke"].training.model_copy(update={"steps": 4, "batch": 16}), seeds=1, count=20
    ),
    "laptop": Scale(
        training=SETTINGS["laptop"].training,
        seeds=SETTINGS["laptop"].seeds,
        count=SETTINGS["laptop"].count,
        differs="Differs from the published setting: three runs instead of ten, thousands of steps instead of 60 030, "
        "fresh samples instead of a fixed set unless the figure is about samples.",
    ),
    "paper": Scale(
        training=SETTINGS["paper"].training, seeds=SETTINGS["paper"].seeds, count=SETTINGS["paper"].count
    ),
}
"""Of the other figures on numbers."""


def described(laptop: str) -> dict[str, str]:
    """The scales of a figure, with what is said of each."""
    return {"smoke": SMOKE, "laptop": laptop, "paper": "as published, ten runs, for GPUs"}


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
