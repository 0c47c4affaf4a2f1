"""Batches: inputs, their exact answers, and where the tokens stand."""

from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.models.inputs import Inputs

Symbols = Int[Tensor, "batch token"]
"""One symbol a token, by index."""

Answers = Float[Tensor, "batch token out"] | Symbols
"""Numbers, `outputs` of them a token; or symbols, one a token, as indices below `outputs`."""


class Batch(NamedTuple):
    """Inputs and their exact answers; all samples of a batch have their tokens at the same coordinates."""

    input: Inputs
    target: Answers
    coordinates: Coordinates

    def to(self, device: torch.device, dtype: torch.dtype) -> "Batch":
        """The batch on a device, its numbers in a precision; symbols stay whole numbers."""
        inputs, targets = (
            t.to(device, dtype if t.is_floating_point() else t.dtype) for t in (self.input, self.target)
        )
        return Batch(inputs, targets, self.coordinates)

    def first(self, copies: int = 1) -> "Batch":
        """This many copies of the first sample."""
        return Batch(
            self.input[:1].repeat_interleave(copies, 0),
            self.target[:1].repeat_interleave(copies, 0),
            self.coordinates,
        )

    def replaced(self, token: int, drawn: Shaped[Tensor, " batch *feature"]) -> Inputs:
        """The inputs with others at one token: one number or symbol a sample, or all its features."""
        inputs = self.input.clone()
        inputs[:, token] = drawn.to(inputs)
        return inputs


class Changes(NamedTuple):
    """One sample changed at one token, in several ways and at several tokens; and which token that was."""

    input: Inputs
    token: Int[Tensor, " change"]

    @classmethod
    def of(cls, batch: Batch, inputs: Inputs, token: Int[Tensor, " change"]) -> "Changes":
        """Those of the inputs that differ from the first sample of the batch."""
        differ = (inputs != batch.input[:1]).flatten(1).any(-1)
        return cls(inputs[differ], token.to(inputs.device)[differ])


@lru_cache(maxsize=4096)
def fields_of(**lengths: int) -> Coordinates:
    """Fields one after another, each with ordinates from 0; kept, since a training loop asks for the same ones.

    >>> fields_of(letter=2, answer=2)
    Coordinates(fields=('letter', 'answer'), field=(0, 0, 1, 1), ordinate=(0, 1, 0, 1))
    """
    return Coordinates.of(**{name: range(length) for name, length in lengths.items()})
