"""Tasks on sequences of numbers, drawn so that each sequence has its own range; each number has an answer."""

import numpy as np
import torch
from jaxtyping import Bool, Float
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Scalars, only_first
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.presentation import read_numbers, rows, write_numbers, write_short
from ordinate.lab.tasks.sampling import (
    LARGEST,
    LONGEST,
    check_count,
    check_length,
    check_scale,
    draw_integers,
    draw_numbers,
    whole_range,
)

Column = Float[Tensor, "batch token 1"]
Tokens = Float[Tensor, "batch token feature"]


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
        if not self.integer_tests:
            return self
        return self.model_copy(update={"integers": True, "integer_tests": None})

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
        check_count(count)
        check_scale(scale, self.low, self.high)
        length = self.length if length is None else length
        inputs = self.draw(count, length, scale, generator)
        return Batch(inputs, self.reference(inputs), self.coordinates(length))

    def draw(self, count: int, length: int, scale: float, generator: Generator) -> Tokens:
        """Draw the inputs."""
        return self.numbers(count, len(self.coordinates(length)), scale, generator).unsqueeze(-1)

    def numbers(
        self, count: int, length: int, scale: float, generator: Generator
    ) -> Float[Tensor, "batch length"]:
        """Draw numbers, whole ones where asked for."""
        draw = draw_integers if self.integers else draw_numbers
        return draw(count, length, low=self.low, high=self.high, scale=scale, generator=generator)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Tokens:
        inputs = batch.input.clone()
        if self.integers:
            first, last = whole_range(self.low, self.high)
            inputs[:, token].random_(first, last + 1, generator=generator)
        else:
            inputs[:, token].uniform_(self.low, self.high, generator=generator)
        return inputs

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        return rows(map(self.write, batch.input[..., 0]), map(self.write, batch.target[..., 0]))

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


def number_coordinates(length: int) -> Coordinates:
    """Return the coordinates of one field, `number`, with ordinates 0 to length - 1."""
    check_length(length)
    return fields_of(number=length)


class Sum(Numbers, name="sum", summary="sum of the numbers so far"):
    """The sum of the numbers so far: 1 -2 3 gives 1 -1 2."""

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        return inputs.cumsum(1)


class Min(Numbers, name="min", summary="smallest of the numbers so far"):
    """The smallest number so far: 1 -2 3 gives 1 -2 -2."""

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        return inputs.cummin(1).values


class Max(Numbers, name="max", summary="largest of the numbers so far"):
    """The largest number so far: 1 -2 3 gives 1 1 3."""

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        return inputs.cummax(1).values


class Median(Numbers, name="median", summary="median of the numbers so far"):
    """The median of the numbers so far, for an even number of them the midpoint of the two middle ones.

    1 -2 3 2 gives 1 -0.5 1 1.5.
    """

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        """Numbers enter a sorted prefix s_1 <= ... <= s_k one at a time.

        With s_0 = -inf and s_{k+1} = inf, the prefix with x in it is s'_i = min(s_i, max(s_{i-1}, x)), the same two
        operations at every place.
        """
        columns = inputs.movedim(1, 0).contiguous()
        prefix, medians = columns[:1], [columns[0]]
        for k in range(1, len(columns)):
            x = columns[k : k + 1]
            raised = torch.maximum(prefix, x)
            prefix = torch.cat(
                [torch.minimum(prefix[:1], x), torch.minimum(prefix[1:], raised[:-1]), raised[-1:]]
            )
            medians.append((prefix[k // 2] + prefix[(k + 1) // 2]) / 2)
        return torch.stack(medians, 1)


class MaxSubarray(
    Numbers, name="max-subarray", summary="largest sum of a non-empty run of the numbers so far"
):
    """The largest sum of a non-empty run of neighbours so far: -3 2 -1 4 -6 gives -3 2 2 5 5.

    Kadane: the best run that ends at k has the sum e_k = x_k + max(e_{k-1}, 0), and y_k = max(y_{k-1}, e_k).
    """

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        columns = inputs.movedim(1, 0).contiguous()
        ending = best = columns[0]
        answers = [best]
        for x in columns[1:]:
            ending = x + ending.clamp(min=0)
            best = torch.maximum(best, ending)
            answers.append(best)
        return torch.stack(answers, 1)


class Sort(Numbers, name="sort", summary="the numbers in ascending order"):
    """The numbers in ascending order: 1 -2 3 gives -2 1 3. Not cumulative: every output needs every input."""

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        return ascending(inputs.squeeze(-1)).unsqueeze(-1)


def ascending(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = the k-th smallest of x_1, ..., x_n.

    NumPy sorts short rows in half the time, where it has the type and nothing is differentiated.

    >>> ascending(torch.tensor([1.0, -2.0, 3.0, -2.0])).tolist()
    [-2.0, -2.0, 1.0, 3.0]
    """
    in_numpy = numbers.dtype in (torch.float32, torch.float64)
    if in_numpy and numbers.device.type == "cpu" and not numbers.requires_grad:
        return torch.from_numpy(np.sort(numbers.numpy(), axis=-1))
    return numbers.sort(-1).values


class MinSum(Numbers, name="min-sum", summary="smallest sum of two numbers at equal places of two sequences"):
    """The smallest sum of the two numbers at equal places: 1 2 3 / 0 -4 5 gives -2.

    A length of n means 2n tokens, in the fields `first` and `second`. The one answer is written at token 0,
    the only output that is scored; the others are 0.
    """

    @override
    def coordinates(self, length: int) -> Coordinates:
        return pair_coordinates(length)

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        """y = min over 1 <= i <= n of x_i + x_{n+i}, at token 0, and zeros elsewhere."""
        if inputs.shape[1] % 2:
            raise OrdinateError(
                f"min-sum pairs two halves: give an even number of tokens, not {inputs.shape[1]}"
            )
        first, second = inputs.chunk(2, 1)
        answer = torch.zeros_like(inputs)
        answer[:, 0] = (first + second).amin(1)
        return answer

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return only_first(coordinates)

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        halves = (" / ".join(map(self.write, x.chunk(2))) for x in batch.input[..., 0])
        return rows(halves, map(self.write, batch.target[:, :1, 0]))


def pair_coordinates(length: int) -> Coordinates:
    """Return the coordinates of two fields, `first` and `second`, with ordinates 0 to length - 1 each."""
    check_length(length)
    return fields_of(first=length, second=length)
