"""Tasks that set attention apart: pairs, triples, averages over named tokens, counting inside brackets."""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch, Symbols, fields_of
from ordinate.lab.tasks.presentation import read_numbers, rows, write_numbers, write_short
from ordinate.lab.tasks.sampling import chances, check_count, check_length, check_scale, integers
from ordinate.lab.tasks.strings import Strings, read_symbols

LARGEST = 4096
"""Largest modulus."""
MOST_TOKENS = 512
"""Tokens of a sparse average, each of which names places."""

ZERO, ONE, OPEN, CLOSE = range(4)
SIGNS = "01[]"

Rows = Float[Tensor, "batch token feature"]


class _Match(Strings):
    """Whole numbers below a modulus (Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896)."""

    modulus: int = Field(
        31, ge=2, le=LARGEST, description="tokens are whole numbers below it; sums wrap around"
    )

    outputs: ClassVar[int] = 2

    @abstractmethod
    def partners(self, there: Int[Tensor, "batch number"]) -> Int[Tensor, "batch number"]:
        """Which sums (1) the other tokens can have modulo the modulus, from the numbers that occur (1)."""

    @property
    @override
    def features(self) -> int:
        return self.modulus

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        there = torch.zeros(len(inputs), self.modulus, dtype=torch.long, device=inputs.device)
        there.scatter_(1, inputs, 1)
        return self.partners(there).gather(1, -inputs % self.modulus)


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


class SparseAverage(
    Task,
    name="sparse-average",
    summary="mean of the numbers of the q tokens that a token names",
    family="matching",
    axes=("scale",),
):
    """The mean of the numbers of q named tokens: each token holds a number and the places of q tokens.

    Sanford, Hsu and Telgarsky 2023, arXiv 2306.02896:

        y_i = (1 / q) sum_{j in Y_i} z_j,     |Y_i| = q

    Harder along `scale`: numbers that many times as large.

    A token is z_i and then its set Y_i, 1 at the places that it names: with q = 1, 3 0 1 / 5 1 0 gives 5 3. One
    attention unit of width d + q log n is enough, and less than q is not; feed-forward networks need a width that
    grows with n.
    """

    length: int = Field(8, ge=1, le=MOST_TOKENS, description=f"tokens, 1 to {MOST_TOKENS}")
    named: int = Field(2, ge=1, le=MOST_TOKENS, description="q: tokens that each names, at most the length")

    outputs: ClassVar[int] = 1

    @model_validator(mode="after")
    def _fits(self) -> "SparseAverage":
        if self.named > self.length:
            raise ValueError(f"must name at most {self.length} tokens, got {self.named}")
        return self

    @property
    @override
    def features(self) -> int:
        return 1 + self.length

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        if length != self.length:
            check_length(length, longest=MOST_TOKENS)
            raise OrdinateError(
                f"sets name {self.length} places, not {length}: write length={length} as an option"
            )
        return fields_of(token=length)

    @override
    def sample(
        self, count: int, *, generator: Generator, length: int | None = None, scale: float = 1.0
    ) -> Batch:
        """Draw numbers from N(0, scale^2), and sets uniformly."""
        check_count(count)
        check_scale(scale, -2.0, 2.0)
        coordinates = self.coordinates(self.length if length is None else length)
        tokens, device = len(coordinates), generator.device
        numbers = scale * torch.randn(count, tokens, 1, generator=generator, device=device)
        sets = self._sets(chances((count, tokens, tokens), generator))
        inputs = torch.cat([numbers, sets.to(numbers)], dim=-1)
        return Batch(inputs, self.reference(inputs), coordinates)

    def _sets(self, chance: Float[Tensor, "*batch place"]) -> Int[Tensor, "*batch place"]:
        """1 at the q places with the highest chance."""
        best = chance.topk(self.named, dim=-1).indices
        return torch.zeros_like(chance, dtype=torch.long).scatter(-1, best, 1)

    @override
    def reference(
        self, inputs: Rows, coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        """Means over what is named; 0 where nothing is."""
        sets = inputs[..., 1:]
        return sets @ inputs[..., :1] / sets.sum(-1, keepdim=True).clamp(min=1)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Rows:
        drawn = torch.randn(len(batch.input), 1, generator=generator, device=generator.device)
        chance = chances((len(batch.input), self.length), generator)
        return batch.replaced(token, torch.cat([drawn, self._sets(chance).float()], dim=1))

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        tokens = (" / ".join(f"{write_numbers(t[:1])} {write_short(t[1:])}" for t in x) for x in batch.input)
        return rows(tokens, map(write_numbers, batch.target[..., 0]))

    @override
    def parse(self, text: str) -> Batch:
        """Read tokens separated by strokes: a number, and 0 or 1 for every place."""
        tokens = [read_numbers(part) for part in text.split("/")]
        coordinates = self.coordinates(len(tokens))
        named = {value for token in tokens for value in token[1:]}
        if {len(token) for token in tokens} != {self.features} or not named <= {0.0, 1.0}:
            raise OrdinateError(
                f"a token is a number and {self.length} places: write {self.length} tokens such as "
                f"0.5 {' '.join('1' if k < self.named else '0' for k in range(self.length))}"
            )
        inputs = torch.tensor([tokens])
        return Batch(inputs, self.reference(inputs), coordinates)


class ContextualCounting(
    Strings, name="contextual-counting", summary="how many ones there are since the bracket that is open"
):
    """The ones since the bracket that is open, 0 outside: 1[10]1 gives 0 0 1 1 0 0.

    As published (Golkar et al. 2024, arXiv 2406.02585) the ones of each bracketed region are counted. Here every
    token is answered, so that the count of a region is read just in front of its closing bracket. Counts from
    `largest` on are answered alike.
    """

    regions: int = Field(2, ge=1, le=64, description="pairs of brackets, at most half of the length")
    largest: int = Field(16, ge=1, le=4096, description="count from which on answers are alike")

    features: ClassVar[int] = len(SIGNS)

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
    def outputs(self) -> int:
        return self.largest + 1

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Symbols:
        self.check_regions(length)
        device = generator.device
        line = integers(0, 2, (count, length), generator)
        places = chances((count, length), generator).argsort(1)
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
        return read_symbols(text, SIGNS, "zeros, ones and brackets, such as 1[10]1")


def _last(there: Bool[Tensor, "batch token"], place: Symbols) -> Symbols:
    """The last place up to each token where `there` holds, -1 before the first."""
    return torch.where(there, place, -1).cummax(1).values
