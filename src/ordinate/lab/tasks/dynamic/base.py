"""What the tasks of dynamic programming have in common: options, coordinates, sampling, the way they are written."""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.numbers.base import read_numbers, write_short
from ordinate.lab.tasks.numbers.min_sum import pair_coordinates
from ordinate.lab.tasks.numbers.sampling import LONGEST, check_count
from ordinate.lab.tasks.task import Batch, Scalars

WIDEST = 4096
"""Largest whole number of an input."""


class Dynamic(Scalars, family="dynamic", axes=("length", "scale")):
    """Small whole numbers, one a token, and an answer for every prefix, in the field `answered`.

    Harder along `length` and along `scale`: whole numbers from a range that many times as wide.
    """

    answered: ClassVar[str]

    length: int = Field(8, ge=1, le=LONGEST, description=f"length of a sequence in training, 1 to {LONGEST}")

    @property
    @abstractmethod
    def largest(self) -> int:
        """How many whole numbers training draws from: what a scale multiplies."""

    @abstractmethod
    def draw(self, count: int, length: int, widest: int, generator: Generator) -> Int[Tensor, "batch token"]:
        """Draw the inputs, from `widest` whole numbers."""

    @abstractmethod
    def solve(self, fields: dict[str, Float[Tensor, "batch _"]]) -> Float[Tensor, "batch length"]:
        """The answers of every prefix, from the numbers of each field."""

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, scale: float = 1.0
    ) -> Batch:
        check_count(count)
        length = self.length if length is None else length
        coordinates = self.coordinates(length)
        if not 1 <= scale <= WIDEST / self.largest:
            raise OrdinateError(
                f"scale must be 1 to {WIDEST // self.largest}, got {scale:g}: "
                "write a number such as scale=2 (1 is the training range)"
            )
        inputs = self.draw(count, length, int(scale * self.largest), generator).float().unsqueeze(-1)
        return Batch(inputs, self.reference(inputs, coordinates), coordinates)

    @abstractmethod
    def layout(self, tokens: int) -> Coordinates:
        """The coordinates of so many tokens."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        """Return the answer of every prefix where it is read, and zeros elsewhere."""
        coordinates = coordinates or self.layout(inputs.shape[1])
        numbers = inputs[..., 0]
        fields = {name: numbers[:, _inside(coordinates, name)] for name in coordinates.fields}
        answers = torch.zeros_like(inputs)
        answers[:, _inside(coordinates, self.answered), 0] = self.solve(fields)
        return answers

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return _inside(coordinates, self.answered)[:, None].clone()

    @override
    def parse(self, text: str) -> Batch:
        parts = [read_numbers(part) for part in text.split("/")]
        coordinates = self.coordinates(len(parts[0]))
        sizes = [coordinates.field.count(field) for field in range(len(coordinates.fields))]
        inputs = torch.tensor([[number] for part in parts for number in part])
        if [len(part) for part in parts] != sizes:
            raise OrdinateError(
                f"{self.name} reads {', '.join(coordinates.fields)}, got {' / '.join(str(len(p)) for p in parts)} "
                f"numbers: write {' / '.join(map(str, sizes))}"
            )
        if (inputs != inputs.round()).any() or inputs.min() < 0 or inputs.max() > WIDEST:
            raise OrdinateError(f"{self.name} reads whole numbers: write 0 to {WIDEST}")
        return Batch(inputs[None], self.reference(inputs[None], coordinates), coordinates)

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        masks = [_inside(batch.coordinates, name) for name in batch.coordinates.fields]
        answered = _inside(batch.coordinates, self.answered)
        return [
            {"input": " / ".join(write_short(x[mask]) for mask in masks), "target": write_short(y[answered])}
            for x, y in zip(batch.input[..., 0], batch.target[..., 0], strict=True)
        ]


class TwoSequences(Dynamic, answered="second"):
    """Two sequences of `symbols` different whole numbers, which matter only as equal or not.

    The answer at place j of the second sequence is that of the whole first one and the second one up to there. At
    scale c a sample draws its `symbols` numbers from c times as many; as often as in training two of them are equal.
    """

    symbols: int = Field(4, ge=2, le=256, description="different whole numbers in a sample")

    @property
    @override
    def largest(self) -> int:
        return self.symbols

    @override
    def coordinates(self, length: int) -> Coordinates:
        return pair_coordinates(length)

    @override
    def layout(self, tokens: int) -> Coordinates:
        if tokens % 2:
            raise OrdinateError(
                f"{self.name} has two sequences of one length: give an even number of tokens, not {tokens}"
            )
        return pair_coordinates(tokens // 2)

    @override
    def draw(self, count: int, length: int, widest: int, generator: Generator) -> Int[Tensor, "batch token"]:
        """Draw which numbers there are, and then both sequences from them."""
        device = generator.device
        there = torch.rand(count, widest, generator=generator, device=device).argsort(-1)[:, : self.symbols]
        return there.gather(
            1, torch.randint(self.symbols, (count, 2 * length), generator=generator, device=device)
        )

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token 1"]:
        inputs = batch.input.clone()
        other = torch.randint(1, self.symbols, (len(inputs),), generator=generator, device=generator.device)
        inputs[:, token, 0] = (inputs[:, token, 0] + other) % self.symbols
        return inputs


def _inside(coordinates: Coordinates, field: str) -> Bool[Tensor, " token"]:
    """Which tokens are in a field."""
    return coordinates.field_tensor == coordinates.fields.index(field)
