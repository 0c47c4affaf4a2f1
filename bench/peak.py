"""Section `peak`: the share of this machine's float32 matrix product that a training step reaches, on one thread.

Operations are those of all matrix products of a step, forward and backward, counted while it runs: as the textbook
formulates the model, and as ours does with neighbouring linear maps merged, which needs fewer for the same result.
"""

from bench.published import KINDS, published, step_seconds
from bench.rows import Progress, Row
from bench.settings import Settings
from bench.textbook_models import TextbookTraining
from bench.timing import matmul_rate
from ordinate.lab.evaluation.cost import alternate, operations
from ordinate.lab.threads import threads
from ordinate.lab.training import Recipe
from ordinate.lab.training.data import Data
from ordinate.lab.training.member import ensemble_losses
from ordinate.models import build_model

SUMMARY = "share of the float32 matrix-product peak that a training step reaches on one thread"


def run(settings: Settings, progress: Progress) -> list[Row]:
    """For each model the peak, the operations, and the shares in both formulations."""
    rows = []
    with threads(1):
        for kind in KINDS:
            progress(kind)
            rows += measure(kind, settings)
    return rows


def measure(kind: str, settings: Settings) -> list[Row]:
    """The rows of one model."""
    recipe = published(kind, settings)
    textbook = TextbookTraining("sum", kind, samples=settings.samples, tests=1, batch=settings.batch)
    peak, ours, theirs = alternate(
        settings.repeats,
        lambda: matmul_rate(settings.matmul),
        lambda: step_seconds(recipe, settings.steps),
        lambda: textbook.step_seconds(settings.steps),
    )
    merged, plain = count_ours(recipe), operations(lambda: textbook.advance(1))
    return [
        Row(f"{kind}: peak of a {settings.matmul}-wide product", peak / 1e9, "GFLOP/s"),
        Row(f"{kind}: merged step", merged / 1e9, "GFLOP"),
        Row(f"{kind}: textbook step", plain / 1e9, "GFLOP"),
        Row(f"{kind}, ours: merged operations, share of peak", merged / ours / peak, "of peak"),
        Row(f"{kind}, ours: textbook operations, share of peak", plain / ours / peak, "of peak"),
        Row(f"{kind}, textbook: textbook operations, share of peak", plain / theirs / peak, "of peak"),
    ]


def count_ours(recipe: Recipe) -> int:
    """Operations of the matrix products of one of our steps."""
    model = build_model(recipe.model, recipe.task, seed=0)
    batch = Data(recipe.task, batch=recipe.training.batch, samples=recipe.training.samples, seed=0).at(0)
    scored = recipe.task.scored(batch.coordinates)

    def step() -> None:
        losses = ensemble_losses([model], [batch], [scored])
        losses.sum().backward()

    return operations(step)
