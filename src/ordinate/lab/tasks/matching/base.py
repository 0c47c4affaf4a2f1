"""What tasks on symbols of one line have in common: sampling, coordinates, the way they are written."""

from abc import abstractmethod

import torch
from jaxtyping import Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.memories.base import token_coordinates
from ordinate.lab.tasks.numbers.sampling import LONGEST, check_count, check_length
from ordinate.lab.tasks.task import Batch, Task

Symbols = Int[Tensor, "batch token"]


class Line(Task, family="matching", axes=("length",)):
    """Symbols, one a token, each answered with a symbol. Harder along `length`."""

    length: int = Field(16, ge=1, le=LONGEST, description=f"tokens in training, 1 to {LONGEST}")

    @abstractmethod
    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        """Draw inputs."""

    @abstractmethod
    def write(self, symbols: list[int]) -> str:
        """A line as a person reads it."""

    @abstractmethod
    def read(self, text: str) -> list[int]:
        """The symbols of a line that a person wrote."""

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        check_length(length)
        return token_coordinates(length)

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        check_count(count)
        coordinates = self.coordinates(self.length if length is None else length)
        inputs = self.draw(count, len(coordinates), generator)
        return Batch(inputs, self.reference(inputs), coordinates)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Symbols:
        inputs = batch.input.clone()
        other = torch.randint(1, self.features, (len(inputs),), generator=generator, device=generator.device)
        inputs[:, token] = (inputs[:, token] + other) % self.features
        return inputs

    @override
    def token_texts(self, inputs: Symbols) -> list[str]:
        return [self.write([symbol]) for symbol in inputs[0].tolist()]

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        return [
            {"input": self.write(x), "target": " ".join(map(str, y))}
            for x, y in zip(batch.input.tolist(), batch.target.tolist(), strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        inputs = torch.tensor([self.read(text)], dtype=torch.long)
        return Batch(inputs, self.reference(inputs), self.coordinates(inputs.shape[1]))
