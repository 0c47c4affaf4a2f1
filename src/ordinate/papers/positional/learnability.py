"""Theorem 6.1 beside what is measured: bound and generalization gap over samples, layers, heads and training.

The same models show the price of positional attention: error against depth at a fixed number of samples, for tasks that
parallel algorithms solve in log2(n) rounds.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch

from ordinate.lab.architectures import ConcatTransformer, Positional, Standard
from ordinate.lab.evaluation.metrics import squared_error
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.runs import Run
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.training import Recipe, Training, load_model
from ordinate.lab.training.data import Data
from ordinate.papers.aims import Aim, Ratio, Steeper, along
from ordinate.papers.positional.value_scale import SETTINGS, described
from ordinate.papers.sheets import Column, Line, Scale, Sheet, Sheets, sheets_figure
from ordinate.papers.theory.learnability import measure_norms, theorem_6_1

KINDS: dict[str, type[Positional | Standard]] = {"positional": Positional, "standard": Standard}
TASK = make_task("sum", length=8)
RISK = 5000
"""Samples that the risk is measured on."""


@dataclass(frozen=True)
class Measured:
    """What a checkpoint gives."""

    gap: float
    bound: float


@lru_cache(maxsize=4096)
def measured(path: Path, step: int | None) -> Measured:
    """The gap and the bound of a run at a step, or at its last one."""
    run = Run(path)
    recipe, model = Recipe.parse(run.recipe), load_model(run, step)
    samples = recipe.training.samples
    assert isinstance(model, ConcatTransformer)
    assert samples is not None
    seen = Data(recipe.task, batch=samples, samples=samples, seed=run.seed).sets.values()
    new = recipe.task.sample(RISK, generator=generator(run.seed, "risk"))
    norms = measure_norms(model, tokens=max(recipe.task.lengths()) + 1)
    bound = theorem_6_1(norms, samples, positional=recipe.model.name == "positional")
    return Measured(
        gap=abs(mean_error(model, [new]) - mean_error(model, seen)),
        bound=math.exp(min(bound.log_value, 700.0)),
    )


def mean_error(model: ConcatTransformer, batches: Iterable[Batch]) -> float:
    """Mean squared error over all samples of some batches."""
    with torch.no_grad():
        errors = [
            squared_error(
                model(batch.input.float(), batch.coordinates),
                batch.target.float(),
                TASK.scored(batch.coordinates),
            )
            for batch in batches
        ]
    return float(torch.cat(errors).double().mean())


def _at(run: Run, point: str) -> Measured:
    """At `step=300`, or at the end."""
    return measured(run.path, int(point.removeprefix("step=")) if point.startswith("step=") else None)


GAP = Column("gap: |risk - training error|", lambda run, point: _at(run, point).gap)
BOUND = Column("bound, constants set to 1", lambda run, point: _at(run, point).bound)


@dataclass(frozen=True, kw_only=True)
class GapScale(Scale):
    """What is varied, and around which middle."""

    samples: tuple[int, ...]
    layers: tuple[int, ...]
    heads: tuple[int, ...]
    middle: int
    """Samples where layers and heads are varied, and along training."""

    def model(self, kind: str, samples: int | None = None, layers: int = 4, heads: int = 2) -> Recipe:
        """One model of a kind."""
        samples = samples or self.middle
        name = f"gap-{kind}-{samples}-{layers}-{heads}"
        return self.recipe(name, TASK, KINDS[kind](layers=layers, heads=heads), samples=samples)

    def lines(self, kind: str) -> dict[str, Line]:
        """What is trained and looked at, by what is varied."""
        every = self.training.checkpoint_every or self.training.steps
        steps = [float(step) for step in range(every, self.training.steps + 1, every)]
        return {
            "training samples": Line.over({m: self.model(kind, m) for m in self.samples}, kind, kind),
            "layers": Line.over({n: self.model(kind, layers=n) for n in self.layers}, kind, kind),
            "heads": Line.over({h: self.model(kind, heads=h) for h in self.heads}, kind, kind),
            "steps": Line.along("step", self.model(kind), kind, kind, xs=steps),
        }


SIZES = {
    "smoke": GapScale(
        samples=(20, 40),
        layers=(1, 2),
        heads=(1, 2),
        middle=20,
        training=Training(steps=4, batch=8, checkpoint_every=2),
        seeds=1,
        count=1000,
    ),
    "laptop": GapScale(
        samples=(500, 2000, 8000, 32_000),
        layers=(1, 2, 3, 4, 6),
        heads=(1, 2, 4, 8),
        middle=2000,
        training=SETTINGS["laptop"].training.model_copy(update={"steps": 1500, "checkpoint_every": 300}),
        seeds=3,
        count=1000,
    ),
    "paper": GapScale(
        samples=tuple(range(5000, 50_001, 5000)),
        layers=(1, 2, 3, 4, 6, 8),
        heads=(1, 2, 4, 8),
        middle=30_000,
        training=SETTINGS["paper"].training.model_copy(update={"checkpoint_every": 6003}),
        seeds=10,
        count=1000,
    ),
}

READING = (
    "The constants of the theorem are not published and are set to 1, so that the bound is no guarantee: what can be "
    "compared is how it changes and how the gap changes. Standard attention has the factor of queries and keys, "
    "positional attention has not."
)


@sheets_figure(
    "positional/learnability",
    "The bound on the generalization gap, and the gap",
    "Theorem 6.1 with the norms of trained models beside the difference between their risk and their training "
    "error, on cumulative sums of 8 numbers: over samples, layers, heads, and along training.",
    described("both models, three seeds, about 25 minutes on 2 cores"),
)
def learnability(scale: str) -> Sheets:
    """The gap above, the bound below, a column for each thing that is varied."""
    size = SIZES[scale]
    lines = {kind: size.lines(kind) for kind in KINDS}
    sheets = [
        Sheet(
            f"{column.label.partition(':')[0].partition(',')[0]} over {axis}",
            axis,
            [lines[kind][axis] for kind in KINDS],
            column=column,
            log_x=axis == "training samples",
        )
        for column in (GAP, BOUND)
        for axis in lines["positional"]
    ]
    aims: list[Aim] = [
        Steeper(
            f"{kind}: the gap falls with samples (its exponent; that of the bound is about -1/2).",
            AtMost(0),
            "gap over training samples",
            kind,
            tuple(float(m) for m in size.samples),
        )
        for kind in KINDS
    ]
    aims += [
        Steeper(
            f"The bound of standard attention grows faster with {axis} than that of positional attention.",
            AtLeast(0),
            f"bound over {axis}",
            "standard",
            tuple(lines["standard"][axis].spots),
            than="positional",
        )
        for axis in ("layers", "heads")
    ]
    return Sheets(sheets, aims, size.seeds, READING, columns=4)


ENOUGH = 4
"""Layers for the log2(8) rounds of 8 numbers, and one more, as published."""


def recipe(size: GapScale, task: str, kind: str, layers: int) -> Recipe:
    """One model on one task; those of cumulative sums are trained for the learnability figure, too."""
    made = size.model(kind, layers=layers)
    if task == made.task.name:
        return made
    update = {"name": f"{made.name}-{task}", "task": make_task(task, length=8)}
    return made.model_copy(update=update)


@sheets_figure(
    "positional/trade-off",
    "Depth against samples",
    "Mean squared error in distribution over the number of layers, for models trained on a fixed set of samples: "
    "tasks of 8 numbers that parallel algorithms solve in log2(8) rounds.",
    described("two tasks, both models, three seeds, about 15 minutes on 2 cores, less after learnability"),
)
def trade_off(scale: str) -> Sheets:
    """Both models over layers, a panel for each task."""
    size = SIZES[scale]
    tasks = {"smoke": ("sum",), "laptop": ("sum", "min"), "paper": ("sum", "min", "max-subarray")}[scale]
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task in tasks:
        lines = [
            Line.over({n: recipe(size, task, kind, n) for n in size.layers}, kind, kind) for kind in KINDS
        ]
        sheets.append(Sheet(task, "layers", lines))
        enough = float(ENOUGH if ENOUGH in size.layers else size.layers[-1])
        aims += _depth_aims(task, enough, float(size.layers[-1]), size.layers)
    differs = f"A fixed set of {size.middle} samples for every model."
    return Sheets(sheets, aims, size.seeds, differs)


def _depth_aims(task: str, enough: float, deepest: float, layers: tuple[int, ...]) -> list[Aim]:
    rising = tuple(float(n) for n in layers if n <= enough)
    gains = [
        Ratio(
            f"{task}: {kind} gains from depth, its error with one layer is twice that with {enough:g} or more.",
            AtLeast(2),
            *along(task, kind, enough, 1.0),
        )
        for kind in KINDS
    ]
    return [
        *gains,
        Steeper(
            f"{task}: positional attention needs depth more: up to {enough:g} layers its error falls faster.",
            AtMost(0),
            task,
            "positional",
            rising,
            than="standard",
        ),
        Ratio(
            f"{task}: depth beyond the rounds is not paid back: positional with {deepest:g} layers gains less than "
            "twofold.",
            AtMost(2),
            *along(task, "positional", deepest, enough),
        ),
    ]


FIGURES = (learnability, trade_off)
