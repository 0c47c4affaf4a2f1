"""What the tasks on numbers have in common: options, coordinates, sampling, the way they are written."""

import math
from functools import lru_cache

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.numbers.sampling import (
    LARGEST,
    LONGEST,
    check_count,
    check_length,
    check_scale,
    draw_integers,
    draw_numbers,
    whole_range,
)
from ordinate.lab.tasks.task import Batch, Scalars


class Numbers(Scalars, family="numbers", axes=("length", "scale")):
    """A sequence of numbers, one a token, and one number out for each.

    Harder than in training along `length` (more numbers) and along `scale` (numbers from a range that many
    times as wide; see `sampling`). With `integers` all of them are whole, with `integer_tests` those of tests alone:
    then accuracy, the share of sequences whose answers are all within 10 % (`evaluation.relative`,
    `evaluation.absolute`), is the score to look at.
    """

    length: int = Field(8, ge=1, le=LONGEST, description=f"longest sequence in training, 1 to {LONGEST}")
    variable: bool = Field(
        False, description="true to train on every length up to `length`, false on it alone"
    )
    low: float = Field(-2.0, ge=-LARGEST, le=LARGEST, description="smallest number in training, below `high`")
    high: float = Field(2.0, ge=-LARGEST, le=LARGEST, description="largest number in training, above `low`")
    integers: bool = Field(
        False, description="true for whole numbers, uniform on the whole range, as published for accuracies"
    )
    integer_tests: bool | None = Field(
        None, description="true to test on whole numbers what is trained on any, as published for accuracies"
    )

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> "Numbers":
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got low = {self.low} and high = {self.high}")
        if self.integers or self.integer_tests:
            whole_range(self.low, self.high)
        return self

    @override
    def tested(self) -> "Numbers":
        return (
            self.model_copy(update={"integers": True, "integer_tests": None}) if self.integer_tests else self
        )

    @override
    def lengths(self) -> tuple[int, ...]:
        return tuple(range(1, self.length + 1)) if self.variable else (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        return number_coordinates(length)

    @override
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, scale: float = 1.0
    ) -> Batch:
        """Draw `count` sequences of one length (`self.length` by default) and answer them."""
        check_count(count)
        check_scale(scale, self.low, self.high)
        length = self.length if length is None else length
        inputs = self.draw(count, length, scale, generator)
        return Batch(inputs, self.reference(inputs), self.coordinates(length))

    def draw(
        self, count: int, length: int, scale: float, generator: Generator
    ) -> Float[Tensor, "batch token feature"]:
        """Draw the inputs."""
        return self.numbers(count, len(self.coordinates(length)), scale, generator).unsqueeze(-1)

    def numbers(
        self, count: int, length: int, scale: float, generator: Generator
    ) -> Float[Tensor, "batch length"]:
        """Draw numbers, whole ones where asked for."""
        draw = draw_integers if self.integers else draw_numbers
        return draw(count, length, low=self.low, high=self.high, scale=scale, generator=generator)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token feature"]:
        inputs = batch.input.clone()
        if self.integers:
            first, last = whole_range(self.low, self.high)
            inputs[:, token].random_(first, last + 1, generator=generator)
        else:
            inputs[:, token].uniform_(self.low, self.high, generator=generator)
        return inputs

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        return [
            {"input": self.write(x), "target": self.write(y)}
            for x, y in zip(batch.input[..., 0], batch.target[..., 0], strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        """Read numbers separated by spaces or commas, sequences by strokes."""
        parts = [read_numbers(part) for part in text.split("/")]
        coordinates = self.coordinates(len(parts[0]))
        if {len(part) for part in parts} != {len(coordinates) // len(parts)}:
            raise OrdinateError(f"{text!r} is no input of {self.name}: write it as ordinate sample shows it")
        inputs = torch.tensor([[number] for part in parts for number in part])
        return Batch(inputs[None], self.reference(inputs[None]), coordinates)

    def write(self, numbers: Float[Tensor, " length"]) -> str:
        """Write numbers with two decimals, whole ones short."""
        return write_short(numbers) if self.integers else write_numbers(numbers)


@lru_cache(maxsize=256)
def number_coordinates(length: int) -> Coordinates:
    """Return the coordinates of one field, `number`, with ordinates 0 to length - 1."""
    check_length(length)
    return Coordinates.of(number=range(length))


def write_numbers(numbers: Float[Tensor, " length"]) -> str:
    """Write numbers with two decimals and without a negative zero.

    >>> import torch
    >>> write_numbers(torch.tensor([-1.25, 0.5, -0.001]))
    '-1.25 0.50 0.00'
    """
    return " ".join(f"{x:z.2f}" for x in numbers.tolist())


def read_numbers(text: str) -> list[float]:
    """Read numbers separated by spaces or commas; the inverse of writing them.

    >>> read_numbers("1, -2.5"), read_numbers("1 two")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: 'two' is not a number: write numbers separated by spaces, such as 1 -2.5 3
    """
    numbers = []
    for word in text.replace(",", " ").split():
        try:
            number = float(word)
        except ValueError:
            number = math.nan
        if not abs(number) <= LARGEST:
            raise OrdinateError(
                f"{word!r} is not a number: write numbers separated by spaces, such as 1 -2.5 3"
            )
        numbers.append(number)
    return numbers


def write_short(numbers: Float[Tensor, " length"]) -> str:
    """Write whole numbers as such, others with two decimals.

    >>> import torch
    >>> write_short(torch.tensor([-0.0, 12.0, 1.25]))
    '0 12 1.25'
    """
    return " ".join(f"{x:z.0f}" if x.is_integer() else f"{x:z.2f}" for x in numbers.tolist())
