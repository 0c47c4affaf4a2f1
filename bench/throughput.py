"""Section `throughput`: samples per second over a whole published run, in one process on all threads.

A run of 2001 epochs is put together from its parts, each measured in turns with the textbook's:

    total     = generation + steps * step + evaluations * evaluation
    samples/s = steps * batch / total

with steps = 2001 * samples / batch, and 201 evaluations of the validation set and ten test sets. Generation is
that of the training set, the validation set and the test sets; the textbook's is measured on fewer samples and
scaled. A step is one of the real loop, its share of collating, logging and the schedule included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from tempfile import TemporaryDirectory

import torch

from bench.published import EPOCHS, EVALUATE_EVERY, KINDS, published, step_seconds
from bench.rows import Progress, Row, at_least
from bench.settings import Settings
from bench.textbook_models import TextbookTraining, load_textbook
from ordinate.lab.evaluation.cost import alternate, seconds_of
from ordinate.lab.runs import Store, cores
from ordinate.lab.threads import threads
from ordinate.lab.training import Recipe
from ordinate.lab.training.member import Member

SUMMARY = "samples per second over a published run: generation + steps * step + evaluations * evaluation"

RATIOS = {"positional": 1.5}


@dataclass(frozen=True)
class Parts:
    """Seconds of the parts of a run."""

    generation: float
    step: float
    evaluation: float

    def rate(self, settings: Settings) -> float:
        """Samples per second over the whole run."""
        steps = EPOCHS * -(-settings.samples // settings.batch)
        evaluations = -(-EPOCHS // EVALUATE_EVERY)
        total = self.generation + steps * self.step + evaluations * self.evaluation
        return steps * settings.batch / total


def run(settings: Settings, progress: Progress) -> list[Row]:
    """Rates of both sides, their parts, and the ratio, for each of the two models."""
    rows = []
    with threads(settings.threads or cores()):
        for kind in KINDS:
            progress(kind)
            sides = dict(zip(("ours", "textbook"), measure(kind, settings), strict=True))
            for side, parts in sides.items():
                rows.append(Row(f"{kind}, {side}", parts.rate(settings), "samples/s"))
                rows.append(Row(f"{kind}, {side}: generation", parts.generation, "s"))
                rows.append(Row(f"{kind}, {side}: step", parts.step, "s"))
                rows.append(Row(f"{kind}, {side}: evaluation", parts.evaluation, "s"))
            ratio = sides["ours"].rate(settings) / sides["textbook"].rate(settings)
            name = f"{kind}: ours / textbook"
            target = RATIOS.get(kind)
            rows.append(Row(name, ratio, "x") if target is None else at_least(name, ratio, "x", target))
    return rows


def measure(kind: str, settings: Settings) -> tuple[Parts, Parts]:
    """The parts of ours and of the textbook."""
    recipe = published(kind, settings)
    theirs = TextbookTraining(
        "sum", kind, samples=settings.samples, tests=settings.tests, batch=settings.batch
    )
    generation, evaluation = around_steps(recipe, theirs, settings, torch.get_num_threads())
    step = alternate(
        settings.repeats,
        lambda: step_seconds(recipe, settings.steps),
        lambda: theirs.step_seconds(settings.steps),
    )
    first, second = (Parts(*parts) for parts in zip(generation, step, evaluation, strict=True))
    return first, second


def around_steps(
    recipe: Recipe, theirs: TextbookTraining, settings: Settings, our_threads: int
) -> tuple[list[float], list[float]]:
    """Seconds of ours and of the textbook for all data, and for an evaluation."""
    with TemporaryDirectory() as folder:
        with threads(our_threads):
            ours = _start(recipe, folder)
            ours.evaluate(ours.best)  # draws the test sets

        def generate() -> float:
            with threads(our_threads):
                return _generate(recipe, folder)

        def evaluate() -> float:
            with threads(our_threads):
                return seconds_of(lambda: ours.evaluate(ours.best))

        return (
            alternate(settings.repeats, generate, lambda: _make(settings)),
            alternate(settings.repeats, evaluate, lambda: seconds_of(theirs.evaluate)),
        )


def _start(recipe: Recipe, folder: str) -> Member:
    store = Store(folder)
    return Member.start(recipe, 0, store.open(recipe.to_dict(), 0), store, torch.device("cpu"))


def _generate(recipe: Recipe, folder: str) -> float:
    """Seconds of a start, which draws the training set, and of a first evaluation, which draws the test sets."""

    def generate() -> None:
        member = _start(recipe, folder)
        member.evaluate(member.best)

    return seconds_of(generate)


def _make(settings: Settings) -> float:
    """Seconds in which the textbook makes all sets, from `settings.made` samples inside and outside the range."""
    textbook = load_textbook()

    def seconds(scales: Sequence[int]) -> float:
        turns = islice(cycle(scales), settings.made)
        return seconds_of(lambda: [textbook.make_sample("sum", 8, scale) for scale in turns]) / settings.made

    inside, *outside = textbook.SCALES
    samples = settings.samples + 2 * settings.tests
    return samples * seconds([inside]) + len(outside) * settings.tests * seconds(outside)
