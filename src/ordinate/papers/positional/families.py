"""Two more families of tasks: dynamic programming and graphs. Where do positions suffice, and where do they not?"""

from functools import lru_cache
from pathlib import Path

import torch

from ordinate.lab.evaluation.metrics import squared_error
from ordinate.lab.evaluation.predicates import AtLeast
from ordinate.lab.runs import Run
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe, load_model
from ordinate.papers.aims import Aim, Ratio, Steeper, across
from ordinate.papers.positional.value_scale import SIZES, both, described
from ordinate.papers.sheets import Column, Line, Sheet, Sheets, sheets_figure, stored

DYNAMIC = ("edit-distance", "lcs", "knapsack")
GRAPHS = ("bfs", "connectivity", "shortest-path", "spanning-tree")
WIDER = (1.0, 2.0, 3.0, 5.0)
DENSER = (0.0, 0.2, 0.5, 1.0)
ROUNDS = (1.0, 2.0, 3.0, 4.0)
"""Edges to the furthest vertex: how often what is known has to be passed on."""
SAMPLES = 4000
SHARE = Column("error / variance of the answers", stored("variance_share"))


@lru_cache(maxsize=4096)
def by_rounds(path: Path) -> dict[int, float]:
    """Mean squared error of a run on graphs of training, by the rounds that they need."""
    run = Run(path)
    task, model = Recipe.parse(run.recipe).task, load_model(run)
    batch = task.sample(SAMPLES, generator=generator(run.seed, "rounds"))
    with torch.no_grad():
        output = model(batch.input.float(), batch.coordinates)
    errors = squared_error(output, batch.target.float(), task.scored(batch.coordinates)).double()
    rounds = task.slice("rounds", batch)
    return {int(n): float(errors[rounds == n].mean()) for n in rounds.unique()}


BY_ROUNDS = Column(
    "mean squared error",
    lambda run, point: by_rounds(run.path).get(int(point.removeprefix("rounds=")), float("nan")),
)


@sheets_figure(
    "positional/dynamic",
    "Dynamic programming",
    "Error on edit distance, longest common subsequence and knapsack of 8 whole numbers, as a share of the "
    "variance of the answers, on wider ranges of numbers than in training.",
    described("three tasks, three seeds, about 35 minutes on 2 cores"),
)
def dynamic(scale: str) -> Sheets:
    """Both models on wider ranges of whole numbers than in training."""
    size = SIZES[scale]
    sheets: list[Sheet] = []
    aims: list[Aim] = []
    for task in DYNAMIC[:1] if scale == "smoke" else DYNAMIC:
        recipes = both(size, task, make_task(task, length=8), {"scale": WIDER})
        lines = [Line.along("scale", recipe, label, label) for label, recipe in recipes.items()]
        sheets.append(Sheet(task, "width of the range, times training", lines, SHARE, trained_to=1.0))
        aims += [
            Ratio(
                f"{task}: positional is better on a range {c:g} times as wide.",
                AtLeast(1),
                *across(task, "positional", "standard", c),
            )
            for c in WIDER[1:]
        ]
    return Sheets(sheets, aims, size.seeds, size.differs)


@sheets_figure(
    "positional/graphs",
    "Graphs",
    "Error on distances, components, shortest paths and spanning trees of graphs with 8 vertices, given as their "
    "adjacency matrix: by density, and by how often something has to be passed on.",
    described("four tasks, three seeds, about 30 minutes on 2 cores"),
)
def graphs(scale: str) -> Sheets:
    """Both models on denser and sparser graphs, and by the rounds that a graph needs."""
    size = SIZES[scale]
    tasks = GRAPHS[:1] if scale == "smoke" else GRAPHS
    over, deep = [], []
    aims: list[Aim] = []
    for task in tasks:
        recipes = both(size, task, make_task(task, length=8), {"density": DENSER})
        along = [Line.along("density", recipe, label, label) for label, recipe in recipes.items()]
        over.append(Sheet(task, "density (trained: 0.2)", along))
        rounds = [Line.along("rounds", recipe, label, label, xs=ROUNDS) for label, recipe in recipes.items()]
        deep.append(Sheet(f"{task}, by rounds", "edges to the furthest vertex", rounds, BY_ROUNDS))
        aims += [
            Ratio(
                f"{task}: where to look depends on the graph, so standard is better in distribution.",
                AtLeast(1),
                *across(task, "standard", "positional", 0.2),
            ),
            Steeper(
                f"{task}: the error of positional grows faster with the rounds a graph needs than that of standard.",
                AtLeast(0),
                f"{task}, by rounds",
                "positional",
                ROUNDS,
                than="standard",
            ),
        ]
    return Sheets([*over, *deep], aims, size.seeds, size.differs, columns=len(tasks))


FIGURES = (dynamic, graphs)
