"""The price of positional attention: error against depth at a fixed number of samples (Theorem 6.1 against rounds)."""

from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe
from ordinate.papers.aims import Aim, Place, Ratio, Steeper
from ordinate.papers.positional.learnability import KINDS, SIZES, GapScale
from ordinate.papers.positional.sizes import described
from ordinate.papers.sheets import Line, Sheet, Sheets, Spot, sheets_figure

ENOUGH = 4
"""Layers for the log2(8) rounds of 8 numbers, and one more, as published."""


def recipe(size: GapScale, task: str, kind: str, layers: int) -> Recipe:
    """One model on one task; those of cumulative sums are trained for the learnability figure, too."""
    made = size.model(kind, layers=layers)
    if task == made.task.name:
        return made
    update = {"name": f"{made.name}-{task}", "task": make_task(task, length=8)}
    return made.model_copy(update=update)


def trade_off(scale: str) -> Sheets:
    """Both models over layers, a panel for each task."""
    size = SIZES[scale]
    tasks = {"smoke": ("sum",), "laptop": ("sum", "min"), "paper": ("sum", "min", "max-subarray")}[scale]
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task in tasks:
        lines = [
            Line(kind, kind, {float(n): Spot(recipe(size, task, kind, n)) for n in size.layers})
            for kind in KINDS
        ]
        sheets.append(Sheet(task, "layers", lines))
        enough = float(ENOUGH if ENOUGH in size.layers else size.layers[-1])
        aims += _aims(task, enough, float(size.layers[-1]), size.layers)
    differs = f"A fixed set of {size.middle} samples for every model."
    return Sheets(sheets, aims, size.seeds, differs)


def _aims(task: str, enough: float, deepest: float, layers: tuple[int, ...]) -> list[Aim]:
    rising = tuple(float(n) for n in layers if n <= enough)
    gains = [
        Ratio(
            f"{task}: {kind} gains from depth, its error with one layer is twice that with {enough:g} or more.",
            AtLeast(2),
            Place(task, kind, enough),
            Place(task, kind, 1.0),
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
            Place(task, "positional", deepest),
            Place(task, "positional", enough),
        ),
    ]


FIGURES = (
    sheets_figure(
        "positional/trade-off",
        "Depth against samples",
        "Mean squared error in distribution over the number of layers, for models trained on a fixed set of samples: "
        "tasks of 8 numbers that parallel algorithms solve in log2(8) rounds.",
        described(
            "two tasks, both models, three seeds, about 15 minutes on 2 cores, less after learnability"
        ),
        trade_off,
    ),
)
