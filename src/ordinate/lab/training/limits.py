"""What this machine and a model can do: devices, memory and lengths, checked before a training starts."""

import os

import torch

from ordinate.errors import OrdinateError
from ordinate.lab.seeds import generator
from ordinate.lab.training.recipe import Recipe
from ordinate.models import build_model


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


def check_lengths(recipe: Recipe) -> None:
    """Refuse, before the training and not after it, to measure at a length that the model cannot take.

    One sample of the longest length that is longer than those of training goes through an untrained model.
    """
    task, evaluation = recipe.task.tested(), recipe.evaluation
    wanted = [int(value) for value in evaluation.axes.get("length", ())]
    pick = recipe.training.pick
    if pick is not None and pick.axis == "length":
        wanted.append(int(pick.value))
    if evaluation.length is not None and set(evaluation.axes) - {"length"}:
        wanted.append(evaluation.length)
    longest = max(wanted, default=0)
    if longest <= max(task.lengths()):
        return
    batch = task.sample(1, generator=generator(0, "longest"), length=longest)
    model = build_model(recipe.model, recipe.task, seed=0).eval()
    try:
        with torch.no_grad():
            model(batch.input, batch.coordinates)
    except OrdinateError as error:
        raise OrdinateError(f"evaluation: {error}") from None
