"""Ensembles: K seeds of one recipe in one vectorised pass.

Every member owns its model, optimiser, schedule and data, exactly as a separate run would. Only the forward and
backward passes are shared: the parameters are stacked along a new axis, which `torch.vmap` maps over.
"""

from collections.abc import Callable, Sequence

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
    wrap: Callable[[Callable[..., Tensor]], Callable[..., Tensor]] = lambda f: f,
) -> Float[Tensor, " member"]:
    """The loss of every member on its own batch, with gradients to its own parameters.

    `wrap` is applied to the function of one pass, for example `torch.compile`.
    """
    if len(models) == 1:
        batch = batches[0]
        return wrap(lambda x, y: loss(models[0](x, coordinates), y, scored))(batch.input, batch.target)[None]
    named = [dict(model.named_parameters()) for model in models]
    stacked = {name: torch.stack([parameters[name] for parameters in named]) for name in named[0]}

    def member(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return loss(functional_call(models[0], parameters, (x, coordinates)), y, scored)

    inputs = torch.stack([batch.input for batch in batches])
    targets = torch.stack([batch.target for batch in batches])
    return wrap(torch.vmap(member))(stacked, inputs, targets)
