"""Multiplication by a short multiplier."""

import torch
from jaxtyping import Bool, Int
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.arithmetic.base import LAYOUTS, Arithmetic
from ordinate.lab.tasks.arithmetic.carries import carry_levels, carry_reach
from ordinate.lab.tasks.arithmetic.digits import TIMES, multiply, scale_places, strip, to_digits
from ordinate.lab.tasks.arithmetic.formats import Operands
from ordinate.lab.tasks.arithmetic.lines import FACTORS, NO_WORDS, Words
from ordinate.lab.tasks.arithmetic.samplers import draws_pairs
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.tasks.sampling import chances, integers

CHOICES = 16
"""Of how many products a hard one is the hardest."""


class Multiplication(
    Arithmetic,
    name="multiplication",
    summary="product of a number with a multiplier of 1 to 3 digits",
    slices=("levels",),
    sign=TIMES,
):
    """The product with a multiplier of 1 to 3 digits: 56 x 4297 gives 240632.

    The multiplier is uniform over the numbers of exactly `multiplier` digits, zero excepted (1 to 9, 10 to 99,
    100 to 999); with `mixed`, of k = 1 to `multiplier` digits, drawn for every batch in proportion to k, or to k to the
    power of `focus`. With `sparse`, that share of the multipliers have a 0 for about half of their digits, the first
    included. With `deep`, that share of the samples are hard ones: of 16 products the one whose carries reach furthest.
    The slice `levels` is the number of rounds in which carries are handed on, all places at once.
    """

    multiplier: int = Field(1, ge=1, le=3, description="digits of the multiplier, 1 to 3")
    mixed: bool = Field(False, description="true to draw multipliers of 1 to `multiplier` digits, by batch")
    focus: float | None = Field(
        None,
        ge=0,
        le=10,
        description="with `mixed`: the larger, the more often multipliers are long; default 1",
    )
    sparse: float | None = Field(
        None, gt=0, le=1, description="share of multipliers with zeros for half of their digits, above 0 to 1"
    )
    deep: float | None = Field(
        None, gt=0, le=1, description="share of samples whose carries reach the furthest of 16, above 0 to 1"
    )

    @model_validator(mode="after")
    def _draws_one_number(self) -> "Multiplication":
        if draws_pairs(self.sampler):
            raise ValueError("the sampler draws pairs to be added: write sampler = 'uniform' or 'shifted'")
        if self.focus is not None and not self.mixed:
            raise ValueError("focus chooses among multipliers of several sizes: write mixed = true with it")
        return self

    @property
    @override
    def layouts(self) -> int:
        return LAYOUTS if self.mixed and self.multiplier > 1 else super().layouts

    @override
    def tested(self) -> Arithmetic:
        """The task with uniform numbers, hard ones as often as they are, and multipliers of all their digits."""
        usual = {"mixed": False, "focus": None, "sparse": None, "deep": None}
        return super().tested().model_copy(update=usual)

    @property
    @override
    def operands(self) -> tuple[str, ...]:
        return FACTORS

    @override
    def sizes(self, places: int, width: int) -> tuple[int, ...]:
        """A padded multiplicand has room for the product."""
        return self.multiplier, self.format.longest(places, width + self.multiplier)

    @override
    def layout(self, sizes: tuple[int, ...], words: Words = NO_WORDS) -> Coordinates:
        multiplier, multiplicand = sizes
        return self.format.factors((multiplier, multiplicand), words)

    @property
    @override
    def example(self) -> str:
        return f"{'456'[: self.multiplier]}x4095"

    @override
    def fit(self, numbers: tuple[str, ...]) -> Operands:
        """A multiplier of the digits that the task has, and a field with room for the product."""
        short, long = numbers
        fewest = 1 if self.mixed else self.multiplier
        if not fewest <= len(short) <= self.multiplier or short == "0":
            allowed = "9" * self.multiplier
            raise OrdinateError(
                f"the multiplier {short} is not {10 ** (fewest - 1)} to {allowed}, as in this task: "
                f"write the multiplier first, such as {self.example}"
            )
        width = self.span(len(long)) + len(short)
        multiplicand = self.format.fit(to_digits([int(long)], len(long)), width)
        return to_digits([int(short)], len(short)), multiplicand

    @override
    def natural(self, inputs: Int[Tensor, "batch token"], coordinates: Coordinates) -> Bool[Tensor, " batch"]:
        multiplier, _ = self.read(inputs, coordinates)
        return super().natural(inputs, coordinates) & (multiplier[:, -1] > 0)

    @override
    def amounts(self, operands: Operands) -> Int[Tensor, "batch place"]:
        return scale_places(*operands)

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Operands:
        """Draw a multiplier that starts with no zero unless thinned out, and a multiplicand from the sampler."""
        device, width = generator.device, self.span(length)
        size = self.multiplier
        if self.mixed:
            weights = torch.arange(1.0, size + 1, device=device) ** (1 if self.focus is None else self.focus)
            size = 1 + int(torch.multinomial(weights, 1, generator=generator))
        drawn = count if self.deep is None else count * CHOICES
        multiplier = integers(0, 10, (drawn, size), generator)
        multiplier[:, -1] = integers(1, 10, (drawn,), generator)
        if self.sparse is not None:
            multiplier = _thinned(multiplier, self.sparse, generator)
        digits = self.sampler.draw(drawn, length, generator, operands=1, width=width)
        if self.deep is not None:
            chosen = _deepest(multiplier, digits[:, 0], count, self.deep, generator)
            multiplier, digits = multiplier[chosen], digits[chosen]
        (multiplicand,) = self.format.write(digits, width + size, self.sampler.joint, generator)
        return multiplier, multiplicand

    @override
    def solve(self, operands: Operands, places: int) -> Int[Tensor, "batch place"]:
        multiplier, multiplicand = operands
        return strip(multiply(multiplier, multiplicand, places))

    @override
    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        if name not in self.slices:
            return super().slice(name, batch)
        return carry_levels(*self.read(batch.input, batch.coordinates))


def _thinned(
    multiplier: Int[Tensor, "batch short"], share: float, generator: Generator
) -> Int[Tensor, "batch short"]:
    """Put zeros for half of the digits, in this share of the multipliers; none becomes zero."""
    kept = chances(multiplier.shape, generator) < 0.5
    whole = chances((len(multiplier), 1), generator) >= share
    thin = multiplier * (kept | whole)
    return torch.where(thin.any(dim=1, keepdim=True), thin, multiplier)


def _deepest(
    multiplier: Int[Tensor, "drawn short"],
    digits: Int[Tensor, "drawn place"],
    count: int,
    share: float,
    generator: Generator,
) -> Int[Tensor, " batch"]:
    """For every sample the place of the hardest of its choices, or of the first, which is any."""
    reach = carry_reach(multiplier, digits).view(count, CHOICES)
    hard = chances((count,), generator) < share
    chosen = torch.where(hard, reach.argmax(-1), 0)
    return chosen + CHOICES * torch.arange(count, device=chosen.device)
