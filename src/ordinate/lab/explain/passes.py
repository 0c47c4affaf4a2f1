"""Where every layer looks: the attention weights of one sample, in the order in which the layers work.

A looped model goes through a layer several times, so a layer may have several passes.
"""

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.attention import hooks, patched
from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import run_model
from ordinate.lab.tasks.task import Batch


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
