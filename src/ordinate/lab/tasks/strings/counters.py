"""Counters: the ones so far modulo a number, at every token.

    y_t = (x_1 + ... + x_t) mod m

Parity is m = 2. Every state of the counter is asked for, as where automata are simulated (arXiv 2210.10749); the answer
at the last token alone is the parity of the string, the question of most other studies (arXiv 2207.02098). A string
counts as right where all its tokens are, which no guess reaches by chance at any length worth the name.
"""

from abc import abstractmethod

import torch
from pydantic import Field
from torch import Generator
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.matching.base import Line, Symbols
from ordinate.lab.tasks.numbers.sampling import LONGEST, check_length

MOST_STATES = 64


class Counter(Line, family="strings"):
    """Zeros and ones, each answered with the state of a counter that goes round. Harder along `length`."""

    length: int = Field(16, ge=1, le=LONGEST, description=f"most tokens in training, 1 to {LONGEST}")
    variable: bool = Field(
        False, description="true to train on every length up to `length`, false on it alone"
    )

    @property
    @abstractmethod
    def states(self) -> int:
        """m."""

    @property
    @override
    def features(self) -> int:
        return 2

    @property
    @override
    def outputs(self) -> int:
        return self.states

    @override
    def lengths(self) -> tuple[int, ...]:
        return tuple(range(1, self.length + 1)) if self.variable else (self.length,)

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        return torch.randint(2, (count, length), generator=generator, device=generator.device)

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        return inputs.cumsum(1) % self.states

    @override
    def write(self, symbols: list[int]) -> str:
        return "".join(map(str, symbols))

    @override
    def read(self, text: str) -> list[int]:
        if not text or not set(text) <= {"0", "1"}:
            raise OrdinateError(f"{text!r} is not understood: write zeros and ones, such as 1101")
        check_length(len(text))
        return [int(sign) for sign in text]


class Parity(Counter, name="parity", summary="whether the number of ones so far is odd"):
    """Whether the ones so far are odd in number: 1101 gives 1 0 0 1."""

    @property
    @override
    def states(self) -> int:
        return 2


class ModularCounting(Counter, name="modular-counting", summary="the number of ones so far modulo 5"):
    """The ones so far modulo 5: 1111110 gives 1 2 3 4 0 1 1."""

    modulus: int = Field(5, ge=2, le=MOST_STATES, description="where the count starts again at 0")

    @property
    @override
    def states(self) -> int:
        return self.modulus
