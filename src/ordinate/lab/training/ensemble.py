"""Ensembles: K seeds of one recipe in one vectorised pass.

Every member owns its model, optimiser, schedule and data, exactly as a separate run would. Only the forward and
backward passes are shared: the parameters are stacked along a new axis, which `torch.vmap` maps over.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.func import functional_call

from ordinate.lab.seeds import seed_noise
from ordinate.lab.tasks.batch import Answers, Batch


def loss(
    output: Float[Tensor, "batch token out"], target: Answers, scored: Bool[Tensor, "token #out"]
) -> Float[Tensor, ""]:
    """Mean over the scored outputs: squared error of numbers, cross-entropy of symbols.

    Written as a weighted sum so that it can be mapped over members.
    """
    weight = scored.to(output.dtype) / (scored.sum() * len(output))
    if target.is_floating_point():
        return ((output - target).square() * weight).sum()
    losses = F.cross_entropy(output.transpose(1, 2), target, reduction="none")
    return (losses * weight[:, 0]).sum()


def ensemble_losses(
    models: Sequence[nn.Module],
    batches: Sequence[Batch],
    scored: Sequence[Bool[Tensor, "_ _"]],
    *,
    vectorised: bool = True,
    noise: Sequence[int] | None = None,
) -> Float[Tensor, " member"]:
    """The loss of every member on its own batch, with gradients to its own parameters.

    Members whose batches have other layouts, and models that cannot be mapped over, are computed one after another,
    each with the global generator at its own seed of `noise`, so that no member depends on its companions.
    """
    coordinates = batches[0].coordinates
    if len(models) == 1 or not vectorised or any(batch.coordinates != coordinates for batch in batches):
        found = []
        for place, (model, batch, counts) in enumerate(zip(models, batches, scored, strict=True)):
            if noise is not None:
                seed_noise(noise[place])
            found.append(loss(model(batch.input, batch.coordinates), batch.target, counts))
        return torch.stack(found)
    named = [dict(model.named_parameters()) for model in models]
    stacked = {name: torch.stack([parameters[name] for parameters in named]) for name in named[0]}

    def member(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return loss(functional_call(models[0], parameters, (x, coordinates)), y, scored[0])

    inputs = torch.stack([batch.input for batch in batches])
    targets = torch.stack([batch.target for batch in batches])
    losses: Tensor = torch.vmap(member)(stacked, inputs, targets)
    return losses
