"""What this machine and a model can do: devices, memory and points, checked before a training starts."""

import os

import torch

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import test_set
from ordinate.lab.training.member import draw_tests
from ordinate.lab.training.recipe import Recipe
from ordinate.models import Model


def resolve_device(name: str) -> torch.device:
    """Return the device of a recipe; `auto` takes CUDA, then MPS, then the CPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(device for device, usable in there.items() if usable)
    if not there[name]:
        raise OrdinateError(f'device {name!r} is not there on this machine: write training.device = "auto"')
    return torch.device(name)


def ensemble_bytes(recipe: Recipe) -> int:
    """Estimate of the memory of one member: parameters with gradients and two moments, and all activations."""
    model, training = recipe.model, recipe.training
    tokens = len(recipe.task.coordinates(max(recipe.task.lengths()))) + 1
    number = 8 if training.precision == "float64" else 4
    parameters, a_token = model.sizes(tokens)
    data = 2 * tokens * (training.samples or training.batch)
    return number * (5 * parameters + 2 * training.batch * tokens * a_token + data)


def check_memory(recipe: Recipe, seeds: int) -> None:
    """Refuse more seeds than fit into the free memory at once."""
    if seeds < 1:
        raise OrdinateError(f"{seeds} seeds cannot be trained: write --seeds 1 or more")
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return
    most = int(0.9 * free / ensemble_bytes(recipe))
    if seeds > most:
        raise OrdinateError(
            f"{seeds} seeds at once need about {seeds * ensemble_bytes(recipe) / 2**30:.1f} GiB, "
            f"{free / 2**30:.1f} GiB are free: at most {max(most, 0)} seeds, or a smaller training.batch"
        )


def check_measured(recipe: Recipe, model: Model) -> None:
    """Refuse, before the training and not after it, points that a task does not have or the model cannot take.

    One sample of every point is drawn, and the longest goes through the untrained model.
    """
    evaluation, pick = recipe.evaluation, recipe.training.pick
    small = recipe.model_copy(update={"evaluation": evaluation.model_copy(update={"count": 1})})
    try:
        tests = draw_tests(small, seed=0)
        if pick is not None:
            tests.append(test_set(recipe.task, pick.axis, pick.value, count=1, seed=0))
        batches = (batch for test in tests for batch in test.batches)
        longest = max(batches, key=lambda batch: len(batch.coordinates)).to(
            torch.device("cpu"), torch.float32
        )
        with torch.no_grad():
            model.eval()(longest.input, longest.coordinates)
    except OrdinateError as error:
        raise OrdinateError(f"evaluation: {error}") from None
