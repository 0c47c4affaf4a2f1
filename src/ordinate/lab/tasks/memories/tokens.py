"""Alphabets of the tokens: what a sequence is drawn from."""

import math
from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind

LARGEST_TABLE = 2**20
"""Entries of a table of combinations."""


class Tokens(Kind):
    """One number a token."""

    values: ClassVar[tuple[float, ...]] = ()
    """All that can be drawn, in ascending order; none where numbers are continuous."""

    @abstractmethod
    def draw(self, count: int, length: int, generator: Generator) -> Float[Tensor, "count length"]:
        """Draw independent tokens, in float32."""

    def index(self, numbers: Float[Tensor, "*shape"]) -> Int[Tensor, "*shape"]:
        """The place of every number among the values; the nearest one where it is none of them."""
        if not self.values:
            raise OrdinateError(f'{self.name} tokens have no table of values: write tokens = "signs"')
        between = [(a + b) / 2 for a, b in zip(self.values, self.values[1:], strict=False)]
        return torch.bucketize(numbers.contiguous(), numbers.new_tensor(between), right=True)

    def combination(self, numbers: Float[Tensor, "*shape place"]) -> Int[Tensor, "*shape"]:
        """The place of every row among all rows of values, the first number turning slowest.

        >>> Signs().combination(torch.tensor([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])).tolist()
        [0, 1, 2]
        """
        places = torch.arange(numbers.shape[-1] - 1, -1, -1, device=numbers.device)
        found: Tensor = (self.index(numbers) * len(self.values) ** places).sum(-1)
        return found

    def combinations(self, numbers: int) -> int:
        """How many rows of so many numbers there are, no more than a table can hold."""
        if len(self.values) ** numbers > LARGEST_TABLE:
            most = int(math.log(LARGEST_TABLE, len(self.values)) + 1e-9)
            raise OrdinateError(
                f"a table of {numbers} tokens would have {len(self.values)}^{numbers} entries: "
                f"write at most {most} of them"
            )
        return int(len(self.values) ** numbers)

    def check(self, numbers: Float[Tensor, "..."]) -> None:
        """Refuse numbers that are never drawn."""
        if self.values and not bool(torch.isin(numbers, numbers.new_tensor(self.values)).all()):
            allowed = ", ".join(f"{value:g}" for value in self.values)
            raise OrdinateError(f"{self.name} tokens are {allowed}: write these only")


class _Discrete(Tokens):
    """Each value equally often."""

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Float[Tensor, "count length"]:
        device = generator.device
        places = torch.randint(len(self.values), (count, length), generator=generator, device=device)
        return torch.tensor(self.values, device=device)[places]


class Signs(_Discrete, name="signs", summary="-1 or 1, equally often", values=(-1.0, 1.0)):
    """-1 and 1."""


class Ternary(_Discrete, name="ternary", summary="-1, 0 or 1, equally often", values=(-1.0, 0.0, 1.0)):
    """-1, 0 and 1."""


class Gaussian(Tokens, name="gaussian", summary="numbers from N(0, 1)"):
    """Standard normal numbers."""

    @override
    def draw(self, count: int, length: int, generator: Generator) -> Float[Tensor, "count length"]:
        return torch.randn(count, length, generator=generator, device=generator.device)


TOKENS: dict[str, type[Tokens]] = {kind.name: kind for kind in (Signs, Ternary, Gaussian)}
