"""Match2 and Match3 (Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896)."""

from abc import abstractmethod

import torch
from jaxtyping import Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

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
    @override
    def features(self) -> int:
        return self.modulus

    @property
    @override
    def outputs(self) -> int:
        return 2

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        return torch.randint(self.modulus, (count, length), generator=generator, device=generator.device)

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        there = torch.zeros(len(inputs), self.modulus, dtype=torch.long, device=inputs.device)
        there.scatter_(1, inputs, 1)
        return self.partners(there).gather(1, -inputs % self.modulus)

    @override
    def write(self, symbols: list[int]) -> str:
        return " ".join(map(str, symbols))

    @override
    def read(self, text: str) -> list[int]:
        words = text.split()
        if not words or not all(w.isdecimal() and len(w) < 9 and int(w) < self.modulus for w in words):
            raise OrdinateError(f"{text!r} is not understood: write whole numbers below {self.modulus}")
        return [int(word) for word in words]


class Match2(_Match, name="match-2", summary="whether some token completes this one to 0 modulo p"):
    """1 where some token, itself or another, adds up with this one to 0 modulo p: modulo 5, 1 4 2 gives 1 1 0.

    One attention unit of width 3 can; feed-forward networks need a width that grows with the length.
    """

    @override
    def partners(self, there: Int[Tensor, "batch number"]) -> Int[Tensor, "batch number"]:
        return there


class Match3(_Match, name="match-3", summary="whether two tokens complete this one to 0 modulo p"):
    """1 where two tokens add up with this one to 0 modulo p: modulo 7, 1 2 4 gives 1 1 1. A token may serve twice.

    One layer cannot, unless width, precision and heads grow with the length.
    """

    modulus: int = Field(
        127, ge=2, le=LARGEST, description="tokens are whole numbers below it; sums wrap around"
    )

    @override
    def partners(self, there: Int[Tensor, "batch number"]) -> Int[Tensor, "batch number"]:
        """Any sum of two numbers that are there: a circular convolution, exact since it is rounded."""
        over = torch.fft.rfft(there.double())
        sums: Tensor = torch.fft.irfft(over * over, n=self.modulus)
        return (sums > 0.5).long()
