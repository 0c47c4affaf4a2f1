"""Plans: what figures cost at a scale before anything is trained, here and on GPUs.

A step of every recipe is counted and timed on this machine (`training.price`). On a GPU its matrix products are taken
to run at the share of the peak that they reach here, and never faster than its operators can be launched.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ordinate.lab.evaluation.cost import operations, seconds_of
from ordinate.lab.runs.store import recipe_key
from ordinate.lab.threads import threads
from ordinate.lab.training.price import Price, price
from ordinate.lab.training.recipe import Recipe
from ordinate.papers.figure import Figure


@dataclass(frozen=True)
class Gpu:
    """What is assumed of a GPU."""

    teraflops: float = 19.5
    """Peak of float32 products; this one is of an A100 without its tensor cores, from the maker's data sheet."""
    launch: float = 1e-5
    """Seconds that an operator takes at least when Python calls it."""


@dataclass(frozen=True)
class Row:
    """One figure: its runs, the largest of its models, and hours over all runs."""

    figure: str
    runs: int
    parameters: int
    operations: float
    gigabytes: float
    """Of the largest run."""
    hours_here: float
    """On one thread of this machine."""
    hours_gpu: float
    bound: str
    """What most of the hours on a GPU go to: products or launches."""


def priced(recipes: Iterable[Recipe], report: Callable[[int, int], None]) -> dict[str, Price]:
    """The price of every recipe by its key; recipes whose steps do the same share a count."""
    wanted = {key_of(recipe): recipe for recipe in recipes}
    alike: dict[str, Price] = {}
    found = {}
    for done, (key, recipe) in enumerate(wanted.items(), 1):
        document = recipe.to_dict()
        training = {name: document["training"].get(name) for name in ("batch", "samples", "precision")}
        step = recipe_key({"task": document["task"], "model": document["model"], "training": training})
        if step not in alike:
            alike[step] = price(recipe)
        found[key] = replace(alike[step], steps=recipe.training.steps)
        report(done, len(wanted))
    return found


def key_of(recipe: Recipe) -> str:
    """What a store tells recipes apart by."""
    return recipe_key(recipe.to_dict())


def plan(
    figures: Iterable[Figure], scale: str, gpu: Gpu, report: Callable[[int, int], None] = lambda *_: None
) -> dict[str, Any]:
    """Rows of all figures that are trained at a scale, and their sum; a run that two figures share is counted once."""
    with TemporaryDirectory() as folder:  # some studies keep weights to start from in their store
        studies = {
            figure.name: figure.study(scale, Path(folder) / "runs")
            for figure in figures
            if figure.plan is not None and scale in figure.scales
        }
    prices = priced((recipe for study in studies.values() for recipe in study.recipes), report)
    peak = peak_here()
    counted: set[tuple[str, int]] = set()
    rows = []
    for name, study in studies.items():
        runs = [(key_of(recipe), seed) for recipe in study.recipes for seed in study.seeds_of(recipe)]
        new = [prices[key] for key, seed in runs if (key, seed) not in counted]
        counted.update(runs)
        rows.append(_row(name, new, [prices[key] for key, _ in runs], peak, gpu))
    return {
        "scale": scale,
        "peak_here": peak,
        "gpu": asdict(gpu),
        "rows": [asdict(row) for row in rows],
        "total": {
            key: sum(getattr(row, key) for row in rows)
            for key in ("runs", "operations", "hours_here", "hours_gpu")
        },
    }


def _row(name: str, new: list[Price], every: list[Price], peak: float, gpu: Gpu) -> Row:
    rate = gpu.teraflops * 1e12
    shares = [min(1.0, each.operations / each.seconds / peak) for each in new]
    bare = [each.hours_at(rate, share, 0.0) for each, share in zip(new, shares, strict=True)]
    hours = [each.hours_at(rate, share, gpu.launch) for each, share in zip(new, shares, strict=True)]
    waiting = sum(hour for hour, product in zip(hours, bare, strict=True) if hour > product)
    return Row(
        figure=name,
        runs=len(new),
        parameters=max(each.parameters for each in every),
        operations=sum(each.operations * each.steps for each in new),
        gigabytes=max(each.bytes for each in every) / 1e9,
        hours_here=sum(each.hours for each in new),
        hours_gpu=sum(hours),
        bound="launches" if 2 * waiting > sum(hours) else "products",
    )


def peak_here(size: int = 768) -> float:
    """Operations a second of one large float32 product on one thread: the best of some turns."""
    a, b = torch.randn(2, size, size)
    count = operations(lambda: a @ b)
    with threads(1):
        return count / min(seconds_of(lambda: a @ b) for _ in range(20))
