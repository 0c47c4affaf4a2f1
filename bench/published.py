"""Our side: the published setting as a recipe, and the time of its steps in the real loop."""

from tempfile import TemporaryDirectory
from typing import Any

from bench.settings import Settings
from ordinate.lab.training import Adam, Evaluation, Plateau, Recipe, Training, train

EPOCHS = 2001
EVALUATE_EVERY = 10
SCALES = tuple(float(c) for c in range(1, 11))
LEARNING_RATE = 5e-4
KINDS = ("positional", "standard")


def published(kind: str, settings: Settings, *, task: str = "sum", length: int = 8, **model: Any) -> Recipe:
    """The recipe of the published setting; `model` may name other sizes."""
    return Recipe.parse(
        {
            "name": f"published-{task}-{kind}",
            "task": {"name": task, "length": length},
            "model": {"kind": kind, **model},
            "training": Training(
                steps=EPOCHS * -(-settings.samples // settings.batch),
                batch=settings.batch,
                samples=settings.samples,
                optimizer=Adam(learning_rate=LEARNING_RATE),
                schedule=Plateau(),
                device="cpu",
            ),
            "evaluation": Evaluation(count=settings.tests, axes={"scale": SCALES}),
        }
    )


def change(recipe: Recipe, *, evaluation: Evaluation | None = None, **training: Any) -> Recipe:
    """The recipe with other training options."""
    changed = recipe.training.model_copy(update=training)
    return recipe.model_copy(update={"training": changed, "evaluation": evaluation or recipe.evaluation})


def step_seconds(recipe: Recipe, steps: int) -> float:
    """Seconds of a step of `ordinate.lab.training.train`, logging included, after as many steps to warm up."""
    short = change(recipe, steps=2 * steps, log_every=steps, evaluation=Evaluation(count=1))
    reports: list[float] = []
    with TemporaryDirectory() as folder:
        train(short, store=folder, report=lambda **facts: reports.append(facts["seconds"]))
    return (reports[-1] - reports[0]) / steps
