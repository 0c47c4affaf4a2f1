"""Section `numerics`: the same weights and batches give the same losses, step after step.

Both sides start from the textbook's first weights and take the same batches with Adam at the published rate. In
float64 the losses agree to rounding. In float32 a rounding difference now and then moves an activation over
the edge of a ReLU, or the sign of a gradient that is all but zero and that Adam blows up to a whole step; how far
that drives a seed apart shows in the control, the textbook against itself with the samples of each batch in
reverse order. Every seed is held to the target, whatever the control shows.
"""

from collections.abc import Callable
from copy import deepcopy
from statistics import median

import torch
from torch import nn

from bench.published import KINDS, LEARNING_RATE, published
from bench.rows import Progress, Row, at_most
from bench.settings import Settings
from bench.textbook_models import copy_weights, load_textbook, with_dummy
from ordinate.lab.tasks import Batch
from ordinate.lab.threads import threads
from ordinate.lab.training import Adam, Recipe
from ordinate.lab.training.data import Data
from ordinate.lab.training.member import ensemble_losses
from ordinate.models import build_model

SUMMARY = "largest difference of losses from the textbook's, from equal weights on equal batches"

TOLERANCE = 1e-4

Step = Callable[[Batch], float]
"""Trains on a batch and returns the loss before the step."""


def run(settings: Settings, progress: Progress) -> list[Row]:
    """For each model: float32 over the seeds, the control, and float64."""
    rows, seeds, unit = [], range(settings.numeric_seeds), "MSE"
    with threads(1):
        for kind in KINDS:
            progress(kind)
            name = f"{kind}: largest loss difference in {settings.numeric_steps} steps"
            single = [difference(kind, seed, settings) for seed in seeds]
            control = [difference(kind, seed, settings, control=True) for seed in seeds]
            double = difference(kind, 0, settings, dtype=torch.float64)
            worst = f"worst of {len(seeds)} seeds"
            rows += [
                at_most(f"{name}, float32, {worst}", max(single), unit, TOLERANCE),
                Row(f"{name}, float32, median of {len(seeds)} seeds", median(single), unit),
                Row(f"{name}, textbook against itself, {worst}", max(control), unit),
                at_most(f"{name}, float64", double, unit, TOLERANCE),
            ]
    return rows


def difference(
    kind: str,
    seed: int,
    settings: Settings,
    *,
    dtype: torch.dtype = torch.float32,
    control: bool = False,
) -> float:
    """The largest |difference| of losses between the textbook and ours, or itself in another order."""
    recipe = published(kind, settings)
    model = first_model(kind, seed).to(dtype)
    other = their_step(deepcopy(model), backwards=True) if control else our_step(model, recipe)
    textbook = their_step(model)
    data = Data(recipe.task, batch=settings.batch, samples=settings.samples, seed=seed)
    batches = (data.at(step) for step in range(settings.numeric_steps))
    cast = (Batch(batch.input.to(dtype), batch.target.to(dtype), batch.coordinates) for batch in batches)
    return max(abs(other(batch) - textbook(batch)) for batch in cast)


def first_model(kind: str, seed: int) -> nn.Module:
    """A textbook model whose first weights depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model: nn.Module = load_textbook().make_model(kind, 8)
    return model


def our_step(weights: nn.Module, recipe: Recipe) -> Step:
    """Steps of our model from the weights of a textbook model."""
    model = build_model(recipe.model, recipe.task, seed=0).to(next(weights.parameters()).dtype)
    copy_weights(weights, model)
    optimizer = Adam(learning_rate=LEARNING_RATE).build(model.parameters())
    scored = recipe.task.scored(recipe.task.coordinates(8))

    def step(batch: Batch) -> float:
        optimizer.zero_grad()
        loss = ensemble_losses([model], [batch], [scored]).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def their_step(model: nn.Module, *, backwards: bool = False) -> Step:
    """Steps of a textbook model, with the samples of each batch in their order or backwards."""
    textbook = load_textbook()
    optimizer, _ = textbook.make_optimizer(model)

    def step(batch: Batch) -> float:
        pair = tuple(t.flip(0) for t in with_dummy(batch)) if backwards else with_dummy(batch)
        return float(textbook.train_epoch(model, [pair], optimizer))

    return step
