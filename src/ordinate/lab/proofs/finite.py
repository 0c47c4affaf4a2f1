"""A scan as a finite machine: its states are rows of signs, and what it computes of them is a table.

Every entry is computed in float64 together with a bound of the error of any computation in float32. A sign is certain
if its number is further from 0 than the bound, an output if its score leads by more than the bounds of both.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ordinate.lab.architectures import Scan
from ordinate.lab.proofs.bounds import Bounded, Layer, perceptron

ROWS = 2**14
"""Rows that are computed at a time."""


@dataclass(frozen=True)
class Certain:
    """Whole numbers that were read off, and how certain they are, by row."""

    found: Int[Tensor, " row"]
    distance: Float[Tensor, " row"]
    """The smallest distance to a border: of a number to 0, or half the lead of the best score."""
    error: Float[Tensor, " row"]
    """The bound of the error there."""

    @property
    def sure(self) -> Bool[Tensor, " row"]:
        """Where no computation in float32 can come to something else."""
        return self.distance > self.error


def pack(signs: Float[Tensor, "row width"]) -> Int[Tensor, " row"]:
    """Rows of signs as whole numbers: bit k is set where sign k is +1.

    >>> pack(torch.tensor([[1.0, -1.0, 1.0]])).tolist()
    [5]
    """
    return ((signs > 0).long() << torch.arange(signs.shape[1])).sum(1)


def unpack(codes: Int[Tensor, " row"], width: int) -> Float[Tensor, "row width"]:
    """The signs of whole numbers.

    >>> unpack(torch.tensor([5]), 3).tolist()
    [[1.0, -1.0, 1.0]]
    """
    return ((codes[:, None] >> torch.arange(width)) & 1).double() * 2 - 1


class Finite:
    """The weights of a scan in float64, as functions of its states and of letters."""

    def __init__(self, model: Scan) -> None:
        step = model.step
        self.width = model.begin.shape[0]
        self.step_layers = [_beside(step.back, step.own), _layer(step.middle), _layer(step.down)]
        self.code_layers = [_layer(model.encode), _layer(model.code)]
        self.answer_layers = [_layer(model.read), _layer(model.decode)]
        self.begin_at = model.begin.detach().cpu().double()

    def begin(self) -> Certain:
        """The state before the first token: a weight, read without any error."""
        return _signs(Bounded(self.begin_at[None], torch.zeros(1, self.width, dtype=torch.float64)))

    def alone(self, letters: Float[Tensor, "letter feature"]) -> Certain:
        """The states of letters by themselves."""
        return _signs(perceptron(self.code_layers, letters))

    def step(self, back: Int[Tensor, " row"], own: Int[Tensor, " row"]) -> Certain:
        """The states after one step."""
        return _joined(
            _signs(perceptron(self.step_layers, torch.cat([unpack(b, self.width), unpack(o, self.width)], 1)))
            for b, o in zip(back.split(ROWS), own.split(ROWS), strict=True)
        )

    def answer(self, before: Int[Tensor, " row"], letters: Float[Tensor, "row feature"]) -> Certain:
        """The outputs at letters behind these states."""
        return _joined(
            _best(perceptron(self.answer_layers, torch.cat([unpack(b, self.width), x.double()], 1)))
            for b, x in zip(before.split(ROWS), letters.split(ROWS), strict=True)
        )


def _layer(linear: torch.nn.Linear) -> Layer:
    return Layer(linear.weight.detach().cpu(), linear.bias.detach().cpu())


def _beside(one: torch.nn.Linear, other: torch.nn.Linear) -> Layer:
    """Two maps whose results are added, as one of both inputs."""
    return Layer(torch.cat([one.weight, other.weight], 1).detach().cpu(), other.bias.detach().cpu())


def _signs(z: Bounded) -> Certain:
    closest = (z.value.abs() - z.error).argmin(1, keepdim=True)
    return Certain(
        pack(torch.where(z.value >= 0, 1.0, -1.0)),
        z.value.abs().gather(1, closest)[:, 0],
        z.error.gather(1, closest)[:, 0],
    )


def _best(scores: Bounded) -> Certain:
    best = scores.value.argmax(1, keepdim=True)
    if scores.value.shape[1] == 1:
        certain = torch.full_like(best[:, 0], torch.inf, dtype=torch.float64)
        return Certain(best[:, 0], certain, torch.zeros_like(certain))
    lead = (scores.value.gather(1, best) - scores.value) / 2
    error = (scores.error.gather(1, best) + scores.error) / 2
    lead.scatter_(1, best, torch.inf)
    closest = (lead - error).argmin(1, keepdim=True)
    return Certain(best[:, 0], lead.gather(1, closest)[:, 0], error.gather(1, closest)[:, 0])


def _joined(parts: Iterable[Certain]) -> Certain:
    listed = list(parts)
    return Certain(
        torch.cat([part.found for part in listed]),
        torch.cat([part.distance for part in listed]),
        torch.cat([part.error for part in listed]),
    )
