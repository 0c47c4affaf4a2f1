"""Subtraction of a number from one that is no smaller."""

import torch
from jaxtyping import Bool, Int
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.arithmetic.digits import below, read, resize, subtract
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.sums import Sums, widen
from ordinate.lab.tasks.arithmetic.vocabulary import MINUS
from ordinate.lab.tasks.task import Batch


class Subtraction(
    Sums,
    name="subtraction",
    summary="difference of two numbers, the first no smaller than the second",
    sign=MINUS,
):
    """The difference of two numbers, the first no smaller than the second: 4218 - 4095 gives 0123.

    The answer is as wide as the first number and keeps its leading zeros: each place then depends on places at
    or below it, as in addition. Written 123, the place of the thousands would have to know that nothing is
    left above the hundreds, and places would depend on those above them. Where a redrawn digit would make the
    first number the smaller one, the digit stays.
    """

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Operands:
        first, second = super().draw(count, length, generator)
        if first.shape[1] != second.shape[1]:
            return (first, second) if first.shape[1] > second.shape[1] else (second, first)
        swapped = below(read(first), read(second)).unsqueeze(-1)
        return torch.where(swapped, second, first), torch.where(swapped, first, second)

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        """Subtract; the ten's complement where the second number is larger."""
        first, second = operands
        return widen(subtract(first, second, places), operands)

    @override
    def amounts(self, operands: Operands) -> Int[Tensor, "batch place"]:
        places = max(operand.shape[1] for operand in operands)
        return resize(operands[0], places) - resize(operands[1], places)

    @override
    def fit(self, numbers: tuple[str, ...]) -> Operands:
        first, second = numbers
        if int(first) < int(second):
            raise OrdinateError(f"{first} is less than {second}: write the larger number first")
        return super().fit(numbers)

    @override
    def natural(self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates) -> Bool[Tensor, " batch"]:
        return super().natural(inputs, coordinates) & ~self._smaller(inputs, coordinates)

    def _smaller(
        self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates
    ) -> Bool[Tensor, " batch"]:
        first, second = self.read(inputs, coordinates)
        places = max(first.shape[1], second.shape[1])
        return below(resize(first, places), resize(second, places))

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Int[Tensor, "batch token"]:
        """Put another digit at one token where the first number stays the larger one."""
        inputs = super().redraw(batch, token, generator)
        smaller = self._smaller(inputs, batch.coordinates)
        return torch.where(smaller.unsqueeze(-1), batch.input, inputs)
