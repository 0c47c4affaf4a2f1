"""Section `growth`: how the time of a step grows with length, batch and depth, as slopes in log-log.

A slope of 1 is linear growth. Sizes are visited in turn, several times over; the median of each counts. Layers
stay at 4 where the length changes, so that only the length does.
"""

import math
from collections.abc import Callable, Sequence

from bench.published import KINDS, change, published, step_seconds
from bench.rows import Progress, Row
from bench.settings import Settings
from ordinate.lab.evaluation.cost import alternate
from ordinate.lab.threads import threads
from ordinate.lab.training import Recipe

SUMMARY = "how the time of a step grows with length, batch and layers"

LAYERS = 4


def run(settings: Settings, progress: Progress) -> list[Row]:
    """The times along each axis, and the slope, for each of the two models on one thread."""
    rows = []
    with threads(1):
        for kind in KINDS:
            for axis, recipes in sweeps(kind, settings).items():
                progress(f"{kind}, {axis}")
                times = measure(list(recipes.values()), settings)
                for size, seconds in zip(recipes, times, strict=True):
                    rows.append(Row(f"{kind}: step at {axis} {size}", seconds, "s"))
                rows.append(
                    Row(f"{kind}: slope over {axis}", slope(list(recipes), times), "log s / log size")
                )
    return rows


def sweeps(kind: str, settings: Settings) -> dict[str, dict[int, Recipe]]:
    """The recipes along each axis, by size."""

    def recipe(batch: int, length: int = 8, layers: int = LAYERS) -> Recipe:
        sized = published(kind, settings, length=length, layers=layers)
        return change(sized, batch=batch, samples=None)

    batch = settings.growth_batch
    return {
        "length": {n: recipe(batch, length=n) for n in settings.lengths},
        "batch": {b: recipe(b) for b in settings.batches},
        "layers": {d: recipe(batch, layers=d) for d in settings.depths},
    }


def measure(recipes: Sequence[Recipe], settings: Settings) -> list[float]:
    """Seconds of a step of each recipe."""
    sides = [_side(recipe, settings.growth_steps) for recipe in recipes]
    return alternate(settings.growth_repeats, *sides)


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Least-squares slope of log seconds over log size.

    >>> round(slope([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread


def _side(recipe: Recipe, steps: int) -> Callable[[], float]:
    return lambda: step_seconds(recipe, steps)
