"""One pass of a model listened to, and attention rollout: which inputs could reach an output through the weights.

Rollout (Abnar and Zuidema 2020, arXiv 2005.00928) follows weights alone:

    R_0 = I,     R_l = (R_{l-1} + A_l R_{l-1}) / 2,     A_l the mean over the heads of layer l

Half of every token stays, for the residual path. In loops that start from the input the first layer adds what it
attends to to what entered the first loop, so that half comes from there. What values and perceptrons make of a token,
rollout cannot see.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention import hooks, patched
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import run_model
from ordinate.lab.tasks.batch import Batch


@dataclass(frozen=True)
class Pass:
    """One time that a layer is gone through, both counted from 0; a layer that is met once has no loop."""

    layer: int
    loop: int | None = None

    @property
    def name(self) -> str:
        """A reader's name, counted from 1.

        >>> Pass(0).name, Pass(1, 3).name
        ('layer 1', 'layer 2, loop 4')
        """
        return f"layer {self.layer + 1}" + ("" if self.loop is None else f", loop {self.loop + 1}")


class Looks(NamedTuple):
    """The outputs of one sample, and the weights of every pass; queries and keys include tokens that the model adds."""

    output: Float[Tensor, "token out"]
    passes: tuple[Pass, ...]
    weights: Float[Tensor, "pass head query key"]


def weight_hooks(model: nn.Module) -> dict[str, int]:
    """The hooks of the attention weights, with the number of their layer.

    >>> weight_hooks(nn.Linear(1, 1))
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: a Linear has no attention weights to read: give a model of this library
    """
    found = [name for name in hooks(model) if name.endswith(".attention.weights")]
    if not found:
        raise OrdinateError(
            f"a {type(model).__name__} has no attention weights to read: give a model of this library"
        )
    return {name: layer for layer, name in enumerate(found)}


def watch(model: nn.Module, batch: Batch) -> Looks:
    """Run the first sample of a batch, and keep the weights of every pass."""
    seen: list[tuple[int, Float[Tensor, "head query key"]]] = []

    def keep(layer: int, weights: Float[Tensor, "*batch head query key"]) -> Tensor:
        seen.append((layer, weights[0] if weights.ndim == 4 else weights))
        return weights

    patches = {name: partial(keep, layer) for name, layer in weight_hooks(model).items()}
    with torch.no_grad(), patched(model, patches):
        output = run_model(model, batch.input[:1], batch.coordinates)[0]
    return Looks(
        output, _passes([layer for layer, _ in seen]), torch.stack([weights for _, weights in seen]).cpu()
    )


def _passes(layers: list[int]) -> tuple[Pass, ...]:
    """Number the loops of layers that come more than once."""
    often, met, passes = Counter(layers), Counter[int](), []
    for layer in layers:
        passes.append(Pass(layer, met[layer] if often[layer] > 1 else None))
        met[layer] += 1
    return tuple(passes)


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
