"""Section `best-mode`: samples per second of all cores together, in each way to train many seeds.

Ours: a process with one thread for each core, in the real loop, their steps counted in common windows of time.
The textbook: one seed after another on all threads. Both take turns. As in `throughput`, a whole published run is put
together from its steps, its data and its evaluations; those of ours are timed on one thread, and as many runs as there
are processes go on at once. Start-up (imports, first data, warm-up) is reported and not part of the rate. A training in
bfloat16 ends in float32, so its ratio is put together: 1 / ((1 - finish) / bfloat16 + finish / float32).
"""

import torch

from bench.crew import Crew
from bench.published import change, published
from bench.rows import Progress, Row, at_least
from bench.settings import Mode, Settings
from bench.textbook_models import TextbookTraining
from bench.throughput import Parts, around_steps
from bench.timing import matmul_rate
from ordinate.lab.evaluation.cost import alternate
from ordinate.lab.runs import cores
from ordinate.lab.threads import threads
from ordinate.lab.training import Training

SUMMARY = "aggregate samples per second of the best way to train many seeds, against one seed after another"

RATIO = 4.0
REPORT_EVERY = 5
PROBE = 256
"""Side of the matrices that tell whether bfloat16 is fast: small, since without hardware for it it crawls."""
FINISH = Training().finish


def run(settings: Settings, progress: Progress) -> list[Row]:
    """Rates, ratio and start-up of every candidate, then the winner's ratio."""
    textbook = TextbookTraining(
        "sum", "positional", samples=settings.samples, tests=settings.tests, batch=settings.batch
    )
    progress("data and evaluation")
    with threads(settings.threads or cores()):
        around = around_steps(published("positional", settings), textbook, settings, our_threads=1)
    speed = bfloat16_speed(settings)
    rows = [Row("bfloat16 / float32 matrix product, one thread", speed, "x")]
    ratios: dict[Mode, float] = {}
    for mode in settings.modes:
        if mode.precision == "float32" or speed > 1:
            progress(mode.name)
            found, ratios[mode] = measure(mode, textbook, around, settings)
            rows += found
    finals = {_final_name(mode): with_finish(mode, ratios) for mode in ratios}
    rows += [Row(f"{name}: ours / textbook", ratio, "x") for name, ratio in finals.items()]
    best = max(finals, key=finals.__getitem__)
    return [*rows, at_least(f"best mode ({best}): ours / textbook", finals[best], "x", RATIO)]


def bfloat16_speed(settings: Settings) -> float:
    """How much faster one thread multiplies matrices in bfloat16 than in float32."""
    with threads(1):
        low, full = alternate(
            settings.repeats,
            lambda: matmul_rate(PROBE, torch.bfloat16),
            lambda: matmul_rate(PROBE),
        )
    return low / full


def measure(
    mode: Mode,
    textbook: TextbookTraining,
    around: tuple[list[float], list[float]],
    settings: Settings,
) -> tuple[list[Row], float]:
    """Rows of a mode, its precision kept throughout, and its ratio to the textbook measured in the same minutes."""
    recipe = change(
        published("positional", settings),
        steps=100_000_000,  # ended from outside
        precision=mode.precision,
        finish=0.0,
        log_every=REPORT_EVERY,
    )
    workers = settings.workers or cores()

    def theirs() -> float:
        with threads(settings.threads or cores()):
            return 1 / textbook.step_seconds(settings.steps)

    with Crew(recipe, members=mode.members, workers=workers, window=settings.window) as crew:
        steps = alternate(settings.repeats, crew.rate, theirs)
        start_up = crew.start_up
    ours, other = (
        Parts(generation / runs, 1 / rate, evaluation / runs).rate(settings)
        for generation, rate, evaluation, runs in zip(around[0], steps, around[1], (workers, 1), strict=True)
    )
    rows = [
        Row(f"{mode.name}: {workers} processes", ours, "samples/s"),
        Row(f"{mode.name}: the textbook beside it", other, "samples/s"),
        Row(f"{mode.name}: start-up", start_up, "s"),
    ]
    return rows, ours / other


def with_finish(mode: Mode, ratios: dict[Mode, float]) -> float:
    """The ratio of a whole training in this mode, whose last share is in float32."""
    if mode.precision == "float32":
        return ratios[mode]
    finish = ratios.get(Mode("float32", mode.members), ratios[Mode("float32")])
    return 1 / ((1 - FINISH) / ratios[mode] + FINISH / finish)


def _final_name(mode: Mode) -> str:
    return mode.name.replace("bfloat16", "bfloat16 with float32 finish")
