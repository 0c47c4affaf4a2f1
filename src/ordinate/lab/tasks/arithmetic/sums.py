"""Sums of all kinds: what addition, addition without carries, subtraction and several addends share."""

from itertools import cycle, islice

import torch
from jaxtyping import Int
from pydantic import model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.arithmetic.base import Arithmetic
from ordinate.lab.tasks.arithmetic.digits import add_places, resize, significant, to_digits
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.layout import ADDENDS, NO_WORDS, Words
from ordinate.lab.tasks.arithmetic.reading import SPELLINGS
from ordinate.lab.tasks.arithmetic.samplers import draws_pairs
from ordinate.lab.tasks.arithmetic.vocabulary import PAD, PLUS


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
