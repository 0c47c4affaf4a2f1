"""Contextual counting (Golkar et al. 2024, arXiv 2406.02585), as a running count."""

import torch
from jaxtyping import Bool
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.matching.base import Line, Symbols

ZERO, ONE, OPEN, CLOSE = range(4)
SIGNS = "01[]"


class ContextualCounting(
    Line, name="contextual-counting", summary="how many ones there are since the bracket that is open"
):
    """The ones since the bracket that is open, 0 outside: 1[10]1 gives 0 0 1 1 0 0.

    As published there are some regions of zeros and ones in brackets, and the ones of each are counted. Here every
    token is answered, so that the count of a region is read just in front of its closing bracket. Counts from
    `largest` on are answered alike.
    """

    regions: int = Field(2, ge=1, le=64, description="pairs of brackets, at most half of the length")
    largest: int = Field(16, ge=1, le=4096, description="count from which on answers are alike")

    @model_validator(mode="after")
    def _fits(self) -> "ContextualCounting":
        self.check_regions(self.length)
        return self

    def check_regions(self, length: int) -> None:
        """Refuse lines without room for all brackets."""
        if 2 * self.regions > length:
            raise OrdinateError(
                f"{self.regions} regions need at least {2 * self.regions} tokens, got {length}: "
                f"write length={2 * self.regions}"
            )

    @property
    @override
    def features(self) -> int:
        return len(SIGNS)

    @property
    @override
    def outputs(self) -> int:
        return self.largest + 1

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        self.check_regions(length)
        device = generator.device
        line = torch.randint(2, (count, length), generator=generator, device=device)
        places = torch.rand(count, length, generator=generator, device=device).argsort(1)
        brackets = places[:, : 2 * self.regions].sort(1).values
        signs = torch.tensor([OPEN, CLOSE], device=device).repeat(self.regions)
        return line.scatter(1, brackets, signs.expand(count, -1))

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        """Ones so far, less those in front of the bracket, where it is open."""
        place = torch.arange(inputs.shape[1], device=inputs.device).expand_as(inputs)
        last_open, last_close = (_last(inputs == sign, place) for sign in (OPEN, CLOSE))
        ones = (inputs == ONE).long().cumsum(1)
        before = ones.gather(1, last_open.clamp(min=0))
        return torch.where(last_open > last_close, ones - before, 0).clamp(max=self.largest)

    @override
    def write(self, symbols: list[int]) -> str:
        return "".join(SIGNS[symbol] for symbol in symbols)

    @override
    def read(self, text: str) -> list[int]:
        if not text or not set(text) <= set(SIGNS):
            raise OrdinateError(f"{text!r} is not understood: write zeros, ones and brackets, such as 1[10]1")
        return [SIGNS.index(sign) for sign in text]


def _last(there: Bool[Tensor, "batch token"], place: Symbols) -> Symbols:
    """The last place so far where it is there, -1 before the first."""
    return torch.where(there, place, -1).cummax(1).values
