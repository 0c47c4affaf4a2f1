"""Copying and reversing a string, as in arXiv 2207.02098 and 2305.16843: the string, then as many blanks.

An encoder reads both at once and answers at the blanks. Letter k has ordinate k, and so has the blank at which it is
answered: a string that is reversed has blanks whose ordinates count down.
"""

import string
from abc import abstractmethod
from collections.abc import Iterable
from functools import lru_cache

import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.numbers.sampling import LONGEST, check_count, check_length
from ordinate.lab.tasks.task import Batch, Task

BLANK, FIRST_LETTER = 0, 1
LETTERS = string.ascii_lowercase

Symbols = Int[Tensor, "batch token"]


class Echo(Task, family="strings", axes=("length",)):
    """Letters, and blanks at which they are to be written again. Harder along `length`, the number of letters."""

    length: int = Field(10, ge=1, le=LONGEST, description=f"most letters in training, 1 to {LONGEST}")
    variable: bool = Field(
        False, description="true to train on every length up to `length`, false on it alone"
    )
    alphabet: int = Field(8, ge=2, le=len(LETTERS), description="letters that strings are made of")

    @staticmethod
    @abstractmethod
    def order(length: int) -> Iterable[int]:
        """Which letter is written at each blank, by its ordinate."""

    @property
    @override
    def features(self) -> int:
        return FIRST_LETTER + self.alphabet

    @property
    @override
    def outputs(self) -> int:
        return self.features

    @property
    @override
    def vocabulary(self) -> tuple[str, ...]:
        return ("_", *LETTERS[: self.alphabet])

    @override
    def lengths(self) -> tuple[int, ...]:
        return tuple(range(1, self.length + 1)) if self.variable else (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        """The letters, then the blanks, each with the ordinate of the letter that is written there."""
        check_length(length)
        return echo_coordinates(type(self), length)

    @override
    def sample(self, count: int, *, generator: Generator, length: int | None = None) -> Batch:
        check_count(count)
        length = self.length if length is None else length
        coordinates = self.coordinates(length)
        letters = torch.randint(self.alphabet, (count, length), generator=generator, device=generator.device)
        return self._answered(letters + FIRST_LETTER, coordinates)

    def _answered(self, letters: Symbols, coordinates: Coordinates) -> Batch:
        inputs = torch.nn.functional.pad(letters, (0, letters.shape[1]), value=BLANK)
        return Batch(inputs, self.reference(inputs, coordinates), coordinates)

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        length = inputs.shape[1] // 2
        order = self.coordinates(length).ordinate_tensor[length:].to(inputs.device)
        return torch.nn.functional.pad(inputs[:, :length][:, order], (length, 0), value=BLANK)

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return torch.arange(len(coordinates))[:, None] >= len(coordinates) // 2

    @override
    def free(self, coordinates: Coordinates, length: int) -> tuple[int, ...]:
        return tuple(range(len(coordinates) // 2))

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Symbols:
        inputs = batch.input.clone()
        other = torch.randint(1, self.alphabet, (len(inputs),), generator=generator, device=generator.device)
        inputs[:, token] = FIRST_LETTER + (inputs[:, token] - FIRST_LETTER + other) % self.alphabet
        return inputs

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        half, symbols = len(batch.coordinates) // 2, self.vocabulary
        return [
            {"input": "".join(symbols[i] for i in x[:half]), "target": "".join(symbols[i] for i in y[half:])}
            for x, y in zip(batch.input.tolist(), batch.target.tolist(), strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        known = LETTERS[: self.alphabet]
        if not text or not set(text) <= set(known):
            raise OrdinateError(
                f"{text!r} is not understood: write letters from a to {known[-1]}, such as abba"
            )
        coordinates = self.coordinates(len(text))
        return self._answered(torch.tensor([[FIRST_LETTER + known.index(x) for x in text]]), coordinates)


class Copy(Echo, name="copy", summary="the string again, written at the blanks behind it"):
    """The string again: abca gives abca."""

    @staticmethod
    @override
    def order(length: int) -> Iterable[int]:
        return range(length)


class Reverse(Echo, name="reverse", summary="the string from its end, written at the blanks behind it"):
    """The string from its end: abca gives acba."""

    @staticmethod
    @override
    def order(length: int) -> Iterable[int]:
        return reversed(range(length))


@lru_cache(maxsize=256)
def echo_coordinates(kind: type[Echo], length: int) -> Coordinates:
    """Return the coordinates of the fields `letter` and `answer`.

    >>> echo_coordinates(Reverse, 3).ordinate
    (0, 1, 2, 2, 1, 0)
    """
    return Coordinates.of(letter=range(length), answer=kind.order(length))
