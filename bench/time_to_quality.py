"""Section `time-to-quality`: how long the textbook takes to reach the loss that our `laptop` recipe ends at.

Ours runs first, on one thread, timed from the call to the result. Then the textbook trains with the published
schedule on all threads, data generation included, until an epoch ends at that loss or its patience is over.
Both are scored on one common validation set, outside the time.
"""

import time
from tempfile import TemporaryDirectory

import torch

from bench.published import change
from bench.rows import Progress, Row, at_least
from bench.settings import Settings
from bench.textbook_models import TextbookTraining, with_dummy
from ordinate.lab.evaluation.sweep import TestSet, measure, test_set
from ordinate.lab.runs import cores
from ordinate.lab.threads import threads
from ordinate.lab.training import Recipe, load_model, train

SUMMARY = "time in which the textbook reaches the loss of our laptop recipe, against our time"

RATIO = 5.0


def run(settings: Settings, progress: Progress) -> list[Row]:
    """Our loss and time, the textbook's time, and the ratio: a lower bound where it did not get there."""
    from ordinate.papers.positional.value_scale import recipe_for

    recipe = recipe_for("sum", "positional", "laptop")
    if settings.laptop_steps is not None:
        recipe = change(recipe, steps=settings.laptop_steps)
    validation = test_set(recipe.task, "scale", 1.0, count=settings.validation, seed=0)
    progress("ours")
    loss, ours = train_ours(recipe, validation)
    progress("textbook")
    theirs, reached = train_textbook(loss, settings.patience * ours, validation, settings)
    return [
        Row("ours: final validation loss", loss, "MSE"),
        Row("ours: time, one thread", ours, "s"),
        Row(
            f"textbook: time until {'it got there' if reached else 'it was stopped'}, all threads",
            theirs,
            "s",
        ),
        at_least("textbook / ours", theirs / ours, "x" if reached else "x or more", RATIO),
    ]


def train_ours(recipe: Recipe, validation: TestSet) -> tuple[float, float]:
    """The loss that our recipe ends at, and its seconds."""
    with threads(1), TemporaryDirectory() as folder:
        began = time.monotonic()
        (run,) = train(recipe, store=folder)
        seconds = time.monotonic() - began
        point, _ = measure(load_model(run), recipe.task, validation)
    return point.score, seconds


def train_textbook(loss: float, limit: float, validation: TestSet, settings: Settings) -> tuple[float, bool]:
    """The textbook's seconds until it reaches the loss or the limit, and whether it reached the loss."""
    x, y = with_dummy(validation.batches[0])
    with threads(settings.threads or cores()):
        began = time.monotonic()
        training = TextbookTraining(
            "sum", "positional", samples=settings.samples, tests=1, batch=settings.batch
        )
        seconds, reached = time.monotonic() - began, False
        while not reached and seconds < limit:
            began = time.monotonic()
            training.advance(len(training.loader))
            seconds += time.monotonic() - began
            with torch.no_grad():
                reached = float(training.textbook.loss_of(training.model, x, y)) <= loss
    return seconds, reached
