"""Descent from beside a compiled solution: noise on its weights, training, and whether it comes back."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from ordinate.lab.architectures import Positional
from ordinate.lab.evaluation.sweep import measure, test_set
from ordinate.lab.programs.collection import PROGRAMS
from ordinate.lab.programs.compiler.compile import Compiled, compile_program
from ordinate.lab.runs import Store
from ordinate.lab.seeds import derive
from ordinate.lab.studies import Study, scores_at
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Adam, Cosine, Evaluation, Recipe, Training, load_model, starting_from
from ordinate.lab.training.weights import start_from
from ordinate.models import build_model
from ordinate.papers.figure import plain
from ordinate.papers.positional.value_scale import SETTINGS

LENGTH = 8
PROGRAM_OF = {
    "sum": "prefix-sum",
    "min": "prefix-min",
    "median": "prefix-median",
    "sort": "sort",
    "max-subarray": "max-subarray",
}
FAR = "scale=10"
BACK = 1e-4
"""Share of the answers' variance at c = 10 below which a model counts as back: 1 % of their spread."""


@dataclass(frozen=True)
class Descent:
    """How a compiled solution is disturbed, and the steps that it gets to come back."""

    noises: tuple[float, ...]
    steps: int
    batch: int = 256
    seeds: int | None = None
    """Fewer than the trained models have, where given."""


DESCENTS = {
    "smoke": Descent((0.1,), 5, batch=16, seeds=1),
    "demo": Descent((0.0, 0.01, 0.1, 1.0), 500),
    "laptop": Descent((0.0, 0.01, 0.03, 0.1, 0.3, 1.0), 1000),
    "paper": Descent((0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0), 20_000, batch=1000),
}


@cache
def compiled_for(task: str) -> Compiled:
    """The program of a task on real numbers, in the format that training has."""
    return compile_program(PROGRAMS[PROGRAM_OF[task]].on_reals(), LENGTH, torch.float32)


def disturbed(task: str, noise: float, scale: str, store: Store) -> Recipe:
    """Training from the compiled weights of a task with noise on them; the weights are kept in the store."""
    costs, descent = compiled_for(task).costs, DESCENTS[scale]
    recipe = Recipe(
        name=f"{task}-disturbed-{noise:g}",
        task=make_task(task, length=LENGTH),
        model=Positional(
            input_positions=True,
            layers=costs.layers,
            heads=costs.heads,
            width=costs.width,
            hidden=costs.hidden,
        ),
        training=Training(
            steps=descent.steps,
            batch=descent.batch,
            optimizer=Adam(learning_rate=1e-3, betas=(0.9, 0.99)),
            schedule=Cosine(warmup=0.05),
            clip=1.0,
        ),
        evaluation=Evaluation(count=SETTINGS[scale].count, axes={"scale": (10.0,)}),
    )
    folder = store.root.parent / "compiled" / task
    return starting_from(recipe, str(folder), store, noise=noise)


def measured(recipe: Recipe, store: Store, study: Study) -> dict[str, Any]:
    """Errors at c = 10, and distances from the compiled weights, of every seed before and after."""
    initial = recipe.training.initial
    assert initial is not None
    runs = study.runs(recipe)
    before, start, end = [], [], []
    for run in runs:
        model = build_model(recipe.model, recipe.task, seed=0)
        start_from(model, initial, store, seed=run.seed)
        far = test_set(recipe.task, "scale", 10.0, count=recipe.evaluation.count, seed=derive(run.seed, 1))
        point = measure(model.eval(), recipe.task, far)[0]
        before.append(plain(point.score))
        exact = build_model(recipe.model, recipe.task, seed=0)
        start_from(exact, initial.model_copy(update={"noise": 0.0}), store, seed=run.seed)
        start.append(distance(model, exact))
        end.append(distance(load_model(run), exact) if run.status == "done" else None)
    shares = [
        run.read_result("evaluation")[1]["variance_share"] if run.status == "done" else math.nan
        for run in runs
    ]
    return {
        "noise": initial.noise,
        "before": before,
        "after": [plain(v) for v in scores_at(runs, FAR)],
        "back": [bool(share < BACK) for share in shares],
        "distance_before": start,
        "distance_after": end,
        "seconds": [run.record().get("seconds") for run in runs],
    }


def distance(model: torch.nn.Module, exact: torch.nn.Module) -> float:
    """Root mean square of the difference of weights, each in units of the mean size of its unit's exact weights."""
    total, count = 0.0, 0
    with torch.no_grad():
        for name, value in exact.named_parameters():
            if value.ndim < 2:
                continue
            scale = value.double().square().mean(-1, keepdim=True).sqrt()
            there = scale[:, 0] > 0
            moved = (model.get_parameter(name).double() - value.double())[there] / scale[there]
            total, count = total + float(moved.square().sum()), count + moved.numel()
    return math.sqrt(total / max(count, 1))


def how_far(rows: list[dict[str, Any]]) -> str:
    """The largest noise from which all seeds return, if all smaller ones are returned from, too.

    >>> how_far([{"noise": 0.1, "back": [True, True]}, {"noise": 0.3, "back": [True, False]}])
    'every seed returns from noise up to 0.1'
    """
    whole = []
    for row in rows:
        if not all(row["back"]):
            break
        whole.append(row["noise"])
    if not whole:
        return "not every seed returns, from any noise"
    return f"every seed returns from noise up to {whole[-1]:g}"
