"""Ensembles: K seeds of one recipe in one vectorised pass.

Every member owns its model, optimiser, schedule and data, exactly as a separate run would. Only the forward and
backward passes are shared: the parameters are stacked along a new axis, which `torch.vmap` maps over.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.func import functional_call

from ordinate.coordinates import Coordinates
from ordinate.tasks.task import Batch


def loss(
    output: Float[Tensor, "batch token out"],
    target: Float[Tensor, "batch token out"],
    scored: Bool[Tensor, "token out"],
) -> Float[Tensor, ""]:
    """Mean squared error over the scored outputs, by multiplication so that it can be mapped over members."""
    weight = scored.to(output.dtype) / (scored.sum() * len(output))
    return ((output - target).square() * weight).sum()


def ensemble_losses(
    models: Sequence[nn.Module],
    batches: Sequence[Batch],
    coordinates: Coordinates,
    scored: Bool[Tensor, "token out"],
    *,
    vectorised: bool = True,
) -> Float[Tensor, " member"]:
    """The loss of every member on its own batch, with gradients to its own parameters.

    Compiled models cannot be mapped over and are called one after another (`vectorised=False`).
    """
    if len(models) == 1 or not vectorised:
        return torch.stack(
            [loss(model(x, coordinates), y, scored) for model, (x, y) in zip(models, batches, strict=True)]
        )
    named = [dict(model.named_parameters()) for model in models]
    stacked = {name: torch.stack([parameters[name] for parameters in named]) for name in named[0]}

    def member(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return loss(functional_call(models[0], parameters, (x, coordinates)), y, scored)

    inputs = torch.stack([batch.input for batch in batches])
    targets = torch.stack([batch.target for batch in batches])
    losses: Tensor = torch.vmap(member)(stacked, inputs, targets)
    return losses
