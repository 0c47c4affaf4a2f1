"""Tokens, which a sequence is drawn from, and readouts f, which turn memories into an answer."""

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Annotated, ClassVar

import torch
from jaxtyping import Float, Int
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, choose
from ordinate.lab.tasks.sampling import integers

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
        """Rows of this many numbers, for a table; refused where a table cannot hold them."""
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
        places = integers(0, len(self.values), (count, length), generator)
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


Memories = Float[Tensor, "batch token memory"]
Answered = Float[Tensor, "batch token"]


class Readout(Kind):
    """A function of the memories, the first of which are the nearest."""

    def check(self, memories: int, tokens: Tokens | None) -> None:
        """Refuse memories that it has no answer for; tokens are None where memories are sums of many."""

    @abstractmethod
    def answer(self, memories: Memories, tokens: Tokens | None) -> Answered:
        """One number for every token of every sample."""


class Sum(Readout, name="sum", summary="sum of the memories, or a weighted one"):
    """w_1 m_1 + w_2 m_2 + ...; all weights 1 where none are given."""

    weights: tuple[float, ...] = Field((), description="one for each memory; default all 1")

    @override
    def check(self, memories: int, tokens: Tokens | None) -> None:
        if self.weights and len(self.weights) != memories:
            raise OrdinateError(
                f"readout.weights: {len(self.weights)} weights for {memories} memories: write {memories} of them"
            )

    @override
    def answer(self, memories: Memories, tokens: Tokens | None) -> Answered:
        return memories.sum(-1) if not self.weights else memories @ memories.new_tensor(self.weights)


class Parity(Readout, name="parity", summary="product of the memories"):
    """The product of the memories: for signs, whether the -1 among them are even in number."""

    @override
    def answer(self, memories: Memories, tokens: Tokens | None) -> Answered:
        return memories.prod(-1)


class And(Readout, name="and", summary="1 where all memories are positive, else -1"):
    """1 where every memory is positive, else -1."""

    @override
    def answer(self, memories: Memories, tokens: Tokens | None) -> Answered:
        return 2.0 * (memories > 0).all(-1).to(memories.dtype) - 1


class Majority(Readout, name="majority", summary="sign that most memories have, 0 in a tie"):
    """1 where more memories are positive than negative, -1 where fewer, 0 where as many."""

    @override
    def answer(self, memories: Memories, tokens: Tokens | None) -> Answered:
        return memories.sign().sum(-1).sign()


class _Table(Readout):
    """A number for every combination of values, the first memory turning slowest."""

    @abstractmethod
    def table(self, size: int) -> Float[Tensor, " entry"]:
        """The numbers, in float64."""

    @override
    def answer(self, memories: Memories, tokens: Tokens | None) -> Answered:
        assert tokens is not None
        table = self.table(tokens.combinations(memories.shape[-1]))
        return table.to(memories)[tokens.combination(memories)]

    @override
    def check(self, memories: int, tokens: Tokens | None) -> None:
        if tokens is None or not tokens.values:
            kind = "sums of many tokens" if tokens is None else f"{tokens.name} tokens"
            raise OrdinateError(
                f'readout {self.name!r} is a table, and {kind} have no table of values: write readout = "relus"'
            )
        tokens.combinations(memories)


class Boolean(_Table, name="boolean", summary="truth table of the memories"):
    """Any function of few values: its truth table, -1 before 1, the first memory turning slowest.

    Of two signs it lists the answers to (-1, -1), (-1, 1), (1, -1), (1, 1): the exclusive or is [-1, 1, 1, -1].
    """

    truth: tuple[float, ...] = Field(
        description="answers, those to -1 first, the first memory turning slowest"
    )

    @override
    def check(self, memories: int, tokens: Tokens | None) -> None:
        super().check(memories, tokens)
        assert tokens is not None
        size = tokens.combinations(memories)
        if len(self.truth) != size:
            raise OrdinateError(
                f"readout.truth: {len(self.truth)} answers for {memories} memories of {len(tokens.values)} values: "
                f"write {size} of them"
            )

    @override
    def table(self, size: int) -> Float[Tensor, " entry"]:
        return torch.tensor(self.truth, dtype=torch.float64)


class Ngram(_Table, name="n-gram", summary="random table of the memories"):
    """A table of numbers from N(0, 1), fixed by `seed`: with the lags 0, 1, .., n - 1 a random n-gram model."""

    seed: int = Field(0, ge=0, le=2**31 - 1, description="decides the table")

    @override
    def table(self, size: int) -> Float[Tensor, " entry"]:
        return _normal((size,), self.seed)


class Relus(Readout, name="relus", summary="sum of ReLUs of random directions of the memories"):
    """sum_k ReLU(<w_k, memories>) with `count` vectors w_k from N(0, I), fixed by `seed`."""

    count: int = Field(64, ge=1, le=65536, description="how many ReLUs")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="decides the directions")

    def directions(self, memories: int) -> Float[Tensor, "relu memory"]:
        """The w_k, in float64."""
        return _normal((self.count, memories), self.seed)

    @override
    def answer(self, memories: Memories, tokens: Tokens | None) -> Answered:
        return (memories @ self.directions(memories.shape[-1]).to(memories).T).relu().sum(-1)


READOUTS: dict[str, type[Readout]] = {
    kind.name: kind for kind in (Sum, Parity, And, Majority, Boolean, Ngram, Relus)
}

AnyReadout = Annotated[
    SerializeAsAny[Readout], BeforeValidator(lambda v: choose(v, READOUTS, "task.readout"))
]


@lru_cache(maxsize=64)
def _normal(shape: tuple[int, ...], seed: int) -> Float[Tensor, "..."]:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
