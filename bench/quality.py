"""Section `quality`: the fast modes end at losses as good as those of one float32 training a seed.

Modes in bfloat16 are compared where they are candidates of `best-mode`: where bfloat16 is faster.
"""

import math
from statistics import median
from tempfile import TemporaryDirectory

from bench.best_mode import FINISH, bfloat16_speed
from bench.published import change
from bench.rows import Progress, Row, at_most
from bench.settings import Mode, Settings
from ordinate.lab.threads import threads
from ordinate.lab.training import Evaluation, Recipe, train

SUMMARY = "final losses of the fast modes against float32 trainings one at a time, over seeds"


def run(settings: Settings, progress: Progress) -> list[Row]:
    """The median loss of float32 and the worst of its seeds; then each mode's median, which must not be worse."""
    recipe = Recipe.parse(
        {
            "name": "quality",
            "task": "sum",
            "model": "positional",
            "training": {"steps": settings.quality_steps, "batch": min(settings.batch, 256), "device": "cpu"},
            "evaluation": Evaluation(count=settings.tests),
        }
    )
    with threads(1):
        progress("float32")
        single = final_losses(recipe, Mode("float32"), settings.seeds)
        rows = [
            Row("float32: median of final losses", median(single), "MSE"),
            Row("float32: largest of final losses", max(single), "MSE"),
        ]
        modes = [Mode("float32", settings.seeds)]
        if bfloat16_speed(settings) > 1:
            modes += [Mode("bfloat16"), Mode("bfloat16", settings.seeds)]
        for mode in modes:
            progress(mode.name)
            losses = final_losses(recipe, mode, settings.seeds)
            measure = f"{mode.name}: median of final losses, at most the largest of float32"
            rows.append(at_most(measure, median(losses), "MSE", max(single)))
    return rows


def final_losses(recipe: Recipe, mode: Mode, seeds: int) -> list[float]:
    """The validation losses after equal trainings of all seeds; a bfloat16 training ends in float32."""
    recipe = change(recipe, precision=mode.precision, finish=FINISH)
    groups = [range(first, min(first + mode.members, seeds)) for first in range(0, seeds, mode.members)]
    with TemporaryDirectory() as folder:
        records = [run.record() for group in groups for run in train(recipe, group, store=folder)]
    # A seed that failed has no scores, and counts as infinitely bad.
    return [float(record.get("scores", {}).get("validation", math.inf)) for record in records]
