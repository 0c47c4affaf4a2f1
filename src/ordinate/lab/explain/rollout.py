"""Attention rollout: which inputs could reach an output through the weights (Abnar and Zuidema 2020, arXiv 2005.00928).

    R_0 = I,     R_l = (R_{l-1} + A_l R_{l-1}) / 2,     A_l the mean over the heads of layer l

Half of every token stays, for the residual path. In loops that start anew the first layer adds what it attends to to
what entered the first loop, so that half comes from there.

It follows weights alone: what values and perceptrons make of a token, it cannot see.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.lab.explain.passes import Pass


def rollout(
    weights: Float[Tensor, "pass head query key"],
    passes: Sequence[Pass] | None = None,
    *,
    anew: bool = False,
) -> Float[Tensor, "token token"]:
    """The share of every input token in every token behind the last layer; rows sum to one.

    Weights that do not sum to one are divided by their sum; where there are none a token keeps what it has.

    >>> back = torch.tensor([[[1.0, 0.0], [1.0, 0.0]]])  # both tokens look at the first one
    >>> rollout(torch.stack([back, back]))
    tensor([[1.0000, 0.0000],
            [0.7500, 0.2500]])
    """
    mean = weights.double().abs()
    total = mean.sum(-1, keepdim=True)
    own = torch.eye(weights.shape[-1], dtype=mean.dtype)
    mean = torch.where(total > 0, mean / total.clamp_min(1e-300), own).mean(1)
    reached, start = own, own
    looped = [p.layer for p in passes or () if p.loop is not None]
    for place, attended in enumerate(mean):
        kept = reached
        if anew and passes is not None and passes[place].layer == min(looped, default=-1):
            start = reached if passes[place].loop == 0 else start
            kept = start
        reached = (kept + attended @ reached) / 2
    return reached.to(weights.dtype)
