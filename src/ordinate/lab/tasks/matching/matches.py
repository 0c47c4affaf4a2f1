"""Match2 and Match3 (Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896)."""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Int
from pydantic import Field
from torch import Generator, Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.matching.base import Line, Symbols

LARGEST = 4096
"""Modulus."""


class _Match(Line):
    """Whole numbers below a modulus."""

    modulus: int = Field(
        31, ge=2, le=LARGEST, description="tokens are whole numbers below it; sums wrap around"
    )

    @abstractmethod
    def partners(self, there: Int[Tensor, "batch number"]) -> Int[Tensor, "batch number"]:
        """Which sums modulo the modulus the other tokens can have, from which numbers there are."""

    @property
    def features(self) -> int:
        """The numbers."""
        return self.modulus

    @property
    def outputs(self) -> int:
        """No and yes."""
        return 2

    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        """Uniform numbers."""
        return torch.randint(self.modulus, (count, length), generator=generator, device=generator.device)

    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        """Whether what is lacking to 0 can be had from others."""
        there = torch.zeros(len(inputs), self.modulus, dtype=torch.long, device=inputs.device)
        there.scatter_(1, inputs, 1)
        return self.partners(there).gather(1, -inputs % self.modulus)

    def write(self, symbols: list[int]) -> str:
        """The numbers."""
        return " ".join(map(str, symbols))

    def read(self, text: str) -> list[int]:
        """Whole numbers separated by spaces."""
        words = text.split()
        if not words or not all(w.isdecimal() and len(w) < 9 and int(w) < self.modulus for w in words):
            raise OrdinateError(f"{text!r} is not understood: write whole numbers below {self.modulus}")
        return [int(word) for word in words]


class Match2(_Match):
    """1 where some token, itself or another, adds up with this one to 0 modulo p: modulo 5, 1 4 2 gives 1 1 0.

    One attention unit of width 3 can; feed-forward networks need a width that grows with the length.
    """

    name: ClassVar[str] = "match-2"
    summary: ClassVar[str] = "whether some token completes this one to 0 modulo p"

    def partners(self, there: Int[Tensor, "batch number"]) -> Int[Tensor, "batch number"]:
        """Any number that is there."""
        return there


class Match3(_Match):
    """1 where two tokens add up with this one to 0 modulo p: modulo 7, 1 2 4 gives 1 1 1. A token may serve twice.

    One layer cannot, unless width, precision and heads grow with the length.
    """

    name: ClassVar[str] = "match-3"
    summary: ClassVar[str] = "whether two tokens complete this one to 0 modulo p"

    modulus: int = Field(
        127, ge=2, le=LARGEST, description="tokens are whole numbers below it; sums wrap around"
    )

    def partners(self, there: Int[Tensor, "batch number"]) -> Int[Tensor, "batch number"]:
        """Any sum of two numbers that are there: a circular convolution, exact since it is rounded."""
        over = torch.fft.rfft(there.double())
        sums: Tensor = torch.fft.irfft(over * over, n=self.modulus)
        return (sums > 0.5).long()
