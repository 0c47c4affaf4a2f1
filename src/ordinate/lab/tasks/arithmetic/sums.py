"""Sums: of two numbers, without carries, of several, and differences."""

from itertools import cycle, islice

import torch
from jaxtyping import Bool, Int
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.arithmetic.base import Arithmetic
from ordinate.lab.tasks.arithmetic.carries import longest_carries, longest_cascade
from ordinate.lab.tasks.arithmetic.digits import (
    MINUS,
    PAD,
    PLUS,
    add,
    add_places,
    below,
    read,
    resize,
    significant,
    strip,
    subtract,
    to_digits,
)
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.lines import ADDENDS, NO_WORDS, SPELLINGS, Words
from ordinate.lab.tasks.arithmetic.samplers import CARRIES, CASCADE, draw_pairs, draw_types, draws_pairs
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.tasks.sampling import whole


class Sums(Arithmetic, sign=PLUS):
    """Numbers of one size with signs between them."""

    @model_validator(mode="after")
    def _pairs_are_two(self) -> "Sums":
        if draws_pairs(self.sampler) and len(self.operands) != 2:
            raise ValueError(
                f"the sampler draws pairs, and there are {len(self.operands)} numbers: "
                "write sampler = 'uniform' or 'shifted'"
            )
        return self

    @property
    @override
    def operands(self) -> tuple[str, ...]:
        return ADDENDS[:2]

    @override
    def sizes(self, places: int, width: int) -> tuple[int, ...]:
        return (self.format.longest(places, width),) * len(self.operands)

    @override
    def layout(self, sizes: tuple[int, ...], words: Words = NO_WORDS) -> Coordinates:
        return self.format.addends(sizes, words)

    @property
    @override
    def example(self) -> str:
        return SPELLINGS[self.sign][0].join(islice(cycle(("4095", "123")), len(self.operands)))

    @override
    def fit(self, numbers: tuple[str, ...]) -> Operands:
        width = self.span(max(map(len, numbers)))
        return tuple(self.format.fit(to_digits([int(number)], len(number)), width) for number in numbers)

    @override
    def amounts(self, operands: Operands) -> Int[Tensor, "batch place"] | None:
        return add_places(operands, max(operand.shape[1] for operand in operands))

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Operands:
        width = self.span(length)
        digits = self.sampler.draw(count, length, generator, operands=len(self.operands), width=width)
        return self.format.write(digits, width, self.sampler.joint, generator)


def widen(digits: Int[Tensor, "batch place"], operands: Operands) -> Int[Tensor, "batch place"]:
    """Write an answer as wide as the longest operand, leading zeros kept, and pads above it."""
    longest = resize(operands[0], digits.shape[-1])
    for operand in operands[1:]:
        longest = torch.maximum(longest, resize(operand, digits.shape[-1]))
    return digits.masked_fill(~significant(longest) & (digits == 0), PAD)


class Addition(
    Sums,
    name="addition",
    summary="sum of two numbers, digit by digit",
    axes=("length", "words", "cascade", "carries"),
    slices=("cascade", "carries"),
):
    """The sum of two numbers: 123 + 4095 gives 4218.

    Two more axes draw, at any length, pairs that natural numbers hardly ever show, uniformly among them:
    `cascade` those whose longest cascade of carries is exactly that long, `carries` those whose longest run of
    places with digit sums of 10 or more is. The slices of the same names sort samples by them.
    """

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        words: int | float | None = None,
        cascade: int | float | None = None,
        carries: int | float | None = None,
    ) -> Batch:
        """Draw `count` sums; with `cascade` or `carries`, of pairs whose longest run is exactly that long."""
        length = self.checked(count, length)
        if cascade is None and carries is None:
            return self.compose(self.draw(count, length, generator), words, generator)
        if cascade is not None and carries is not None:
            raise OrdinateError("cascade and carries cannot both be given: write one of them")
        rule, name, value = (
            (CASCADE, "cascade", cascade) if cascade is not None else (CARRIES, "carries", carries)
        )
        assert value is not None
        longest = torch.full((count,), whole(name, value, 0, length), device=generator.device)
        pairs = draw_pairs(draw_types(rule, length, longest, generator), generator)
        operands = self.format.write(pairs, self.span(length), True, generator)
        return self.compose(operands, words, generator)

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        return strip(add(operands, places))

    @override
    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        if name not in self.slices:
            return super().slice(name, batch)
        operands = self.read(batch.input, batch.coordinates)
        sums = add_places(operands, max(operand.shape[1] for operand in operands))
        return longest_cascade(sums) if name == "cascade" else longest_carries(sums)


class NoCarry(Sums, name="no-carry", summary="sum of two numbers without carries: each place on its own"):
    """The sum of two numbers with every carry forgotten: 128 + 4095 gives 4113.

    The answer is as wide as the longer number and keeps its leading zeros (51 + 50 gives 01), so that each
    place depends on its own place only.
    """

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        return widen(add_places(operands, places) % 10, operands)

    @override
    def amounts(self, operands: Operands) -> None:
        return


class Several(Sums, name="several", summary="sum of several numbers"):
    """The sum of 2 to 9 numbers: 12 + 907 + 85 gives 1004. Carries are up to 8 large."""

    addends: int = Field(3, ge=2, le=9, description="how many numbers are added, 2 to 9")

    @property
    @override
    def operands(self) -> tuple[str, ...]:
        return ADDENDS[: self.addends]

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        return strip(add(operands, places))


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
