"""The models of value generalization, and how large each scale of figures on numbers is.

`paper` is as published, `laptop` what 2 cores can do.
"""

from dataclasses import dataclass

from ordinate.lab.architectures import Positional, Standard
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Adam, Cosine, Plateau, Recipe, Training
from ordinate.papers.figure import SMOKE
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
