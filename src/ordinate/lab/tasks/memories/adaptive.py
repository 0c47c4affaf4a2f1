"""Memories whose lags the tokens decide: class II of arXiv 2402.00522."""

from abc import abstractmethod
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any

import torch
from jaxtyping import Float, Int
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from torch import Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, choose
from ordinate.lab.tasks.memories.fixed import MemoryTask, check_reach
from ordinate.lab.tasks.memories.readouts import AnyReadout, Parity, Sum, Ternary, Tokens
from ordinate.lab.tasks.sampling import whole

MOST_MEMORIES = 64

Found = Float[Tensor, "batch token found"]
Lags = Int[Tensor, "batch token"]


class Index(Kind):
    """A lag from the tokens found so far: x_t first, the newest last."""

    @abstractmethod
    def lag(self, found: Found, tokens: Tokens, within: tuple[int, int], number: int) -> Lags:
        """The lag of memory `number`, counted from 1."""

    @abstractmethod
    def check(self, found: int, tokens: Tokens, within: tuple[int, int]) -> None:
        """Refuse an index that leaves the range `within`, or cannot read these tokens."""

    def reaching(self, lag: int) -> "Index":
        """The same with another furthest lag."""
        return self


class Lookup(Index, name="lookup", summary="one lag for every value of the newest token"):
    """The newest token decides: one lag for every value it can have, -1 first.

    `lags = [2, 1]` over signs is the paper's worked example, g(-1) = 2 and g(1) = 1; `[0, 1, 2]` over -1, 0, 1 is the
    g(x) = x + 1 of its proposition 4.2.
    """

    lags: tuple[int, ...] = Field(
        (2, 1), min_length=1, description="of every value, the smallest value first"
    )

    @override
    def lag(self, found: Found, tokens: Tokens, within: tuple[int, int], number: int) -> Lags:
        return torch.tensor(self.lags, device=found.device)[tokens.index(found[..., -1])]

    @override
    def check(self, found: int, tokens: Tokens, within: tuple[int, int]) -> None:
        needs_values(self, tokens)
        if len(self.lags) != len(tokens.values):
            raise OrdinateError(
                f"index.lags: {len(self.lags)} lags for tokens of {len(tokens.values)} values: "
                f"write {len(tokens.values)} of them"
            )
        stays(min(self.lags), max(self.lags), within)

    @override
    def reaching(self, lag: int) -> "Lookup":
        furthest = max(self.lags)
        return Lookup(lags=tuple(lag if one == furthest else one for one in self.lags))


class Drawn(Index, name="drawn", summary="random table of all tokens found so far"):
    """A table of all tokens found so far, lags uniform over the range; fixed by `seed` and the memory's number."""

    seed: int = Field(0, ge=0, le=2**31 - 1, description="decides the tables")

    @override
    def lag(self, found: Found, tokens: Tokens, within: tuple[int, int], number: int) -> Lags:
        table = _table(tokens.combinations(found.shape[-1]), within, self.seed, number)
        return table.to(found.device)[tokens.combination(found)]

    @override
    def check(self, found: int, tokens: Tokens, within: tuple[int, int]) -> None:
        needs_values(self, tokens)
        tokens.combinations(found)


class Linear(
    Index, name="line", summary="rounded linear function of the tokens found so far, the newest first"
):
    """round(bias + weights . tokens found so far, the newest first), at the nearest end of the range where `clip`.

    Tokens beyond the last weight are ignored.
    """

    weights: tuple[float, ...] = Field(
        (1.0,), min_length=1, description="of the newest token, the one before, ..."
    )
    bias: float = Field(2.0, allow_inf_nan=False, description="lag where all tokens are 0")
    clip: bool = Field(False, description="true to stay at the ends of the range")

    @override
    def lag(self, found: Found, tokens: Tokens, within: tuple[int, int], number: int) -> Lags:
        newest = found.flip(-1)[..., : len(self.weights)]
        line = self.bias + newest @ newest.new_tensor(self.weights[: newest.shape[-1]])
        return line.round().clamp(*within).long()

    @override
    def check(self, found: int, tokens: Tokens, within: tuple[int, int]) -> None:
        if self.clip:
            return
        if not tokens.values:
            raise OrdinateError(
                f"index function 'line' leaves its range {within[0]} to {within[1]}: {tokens.name} tokens have no "
                "bound; write clip = true"
            )
        used = self.weights[:found]
        most = max(abs(value) for value in tokens.values) * sum(abs(weight) for weight in used)
        stays(round(self.bias - most), round(self.bias + most), within)


INDICES: dict[str, type[Index]] = {kind.name: kind for kind in (Lookup, Drawn, Linear)}


def _indices(value: Any) -> tuple[Index, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(v, INDICES, "task.index") for v in values)


Indices = Annotated[tuple[SerializeAsAny[Index], ...], BeforeValidator(_indices)]
"""One index function for all memories, or a list with one for each."""


def needs_values(index: Index, tokens: Tokens) -> None:
    """Refuse tables of tokens that are continuous."""
    if not tokens.values:
        raise OrdinateError(
            f"index function {index.name!r} is a table, and {tokens.name} tokens have no table of values: "
            'write index = {kind = "line", clip = true}'
        )


def stays(least: int, most: int, within: tuple[int, int]) -> None:
    """Refuse an index function that leaves its range.

    >>> stays(1, 3, (1, 2))
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: an index function gives lags 1 to 3 and leaves its range 1 to 2: write within=[1, 3]
    """
    if least < within[0] or most > within[1]:
        wider = [max(0, min(least, within[0])), max(most, within[1])]
        advice = f"write within={wider}" if least >= 0 else "write lags of at least 0"
        raise OrdinateError(
            f"an index function gives lags {least} to {most} and leaves its range {within[0]} to {within[1]}: {advice}"
        )


@lru_cache(maxsize=64)
def _table(size: int, within: tuple[int, int], seed: int, number: int) -> Int[Tensor, " entry"]:
    generator = torch.Generator().manual_seed(1009 * seed + number)
    return torch.randint(within[0], within[1] + 1, (size,), generator=generator)


class AdaptiveMemory(
    MemoryTask,
    name="adaptive-memory",
    summary="function of tokens whose lags are decided by tokens found before",
    axes=("length", "lag", "nesting", "memories"),
):
    """A function of tokens that are found one by the other: the first token says where the next is.

        y_t = f(x_t, x_{t-t_1}, ..., x_{t-t_M})
        t_i = g_i(x_t, x_{t-t_1}, ..., x_{t-t_{i-1}})   for i <= K + 1,
        t_i = g_i(x_t, x_{t-t_1}, ..., x_{t-t_K})       for i > K + 1

    K is the `nesting`, M the number of `memories`; K = 0 has t_i = g_i(x_t). All g_i stay in the range `within`. By
    default K = M = 2, g(1) = 1, g(-1) = 2 and f the parity, the worked example of the paper:

        y_t = x_t x_{t-g(x_t)} x_{t-g(x_{t-g(x_t)})}

    so that 1 -1 -1 gives . . 1. Harder along `length`, `nesting`, `memories` and `lag` (the furthest end of the range,
    which moves the furthest lag of a lookup and the range of drawn tables).
    """

    nesting: int = Field(
        2, ge=0, le=MOST_MEMORIES, description="K: how many memories are found one by the other"
    )
    memories: int = Field(2, ge=1, le=MOST_MEMORIES, description="M, at least K")
    within: tuple[int, int] = Field((1, 2), description="least and largest lag, T")
    index: Indices = (Lookup(),)
    readout: AnyReadout = Parity()
    current: bool = Field(True, description="whether f reads x_t itself too")

    @model_validator(mode="after")
    def _fits(self) -> "AdaptiveMemory":
        if self.nesting > self.memories:
            raise ValueError(
                f"must have at most as much nesting as memories, got {self.nesting} and {self.memories}"
            )
        if not 0 <= self.within[0] <= self.within[1]:
            raise ValueError(f"must have within = [least, largest] lag from 0 up, got {list(self.within)}")
        if len(self.index) not in (1, self.memories):
            raise ValueError(
                f"must have one index function, or one for each of {self.memories} memories, got {len(self.index)}"
            )
        check_reach(self.reach, self.length)
        for number in range(1, self.memories + 1):
            self.index_of(number).check(self.arguments_of(number), self.tokens, self.within)
        self.readout.check(self.memories + self.current, self.tokens)
        return self

    def index_of(self, number: int) -> Index:
        """g of this number, from 1 on."""
        return self.index[0] if len(self.index) == 1 else self.index[number - 1]

    def arguments_of(self, number: int) -> int:
        """How many tokens g of this number reads, x_t included."""
        return 1 + min(number - 1, self.nesting)

    @property
    @override
    def reach(self) -> int:
        """The furthest lag; lags are counted from t, not from the memory before."""
        return self.within[1]

    @override
    def value(self, axis: str) -> int:
        return {"lag": self.within[1], "nesting": self.nesting, "memories": self.memories}[axis]

    @override
    def changed(self, axes: Mapping[str, int]) -> dict[str, Any]:
        """Another range, nesting or number of memories; a single index function serves any number."""
        index = self.index
        most = MOST_MEMORIES if len(index) == 1 else self.memories
        memories = whole("memories", axes.get("memories", self.memories), 1, most)
        if len(index) > 1:
            index = index[:memories]
        nesting = whole("nesting", axes.get("nesting", min(self.nesting, memories)), 0, memories)
        within = self.within
        if "lag" in axes:
            within = min(within[0], axes["lag"]), axes["lag"]
            index = tuple(one.reaching(within[1]) for one in index)
        return {"memories": memories, "nesting": nesting, "within": within, "index": index}

    @override
    def memories_of(self, numbers: Float[Tensor, "batch token"]) -> Float[Tensor, "batch token memory"]:
        place = torch.arange(numbers.shape[1], device=numbers.device)
        found = [numbers]
        for number in range(1, self.memories + 1):
            arguments = torch.stack(found[: self.arguments_of(number)], dim=-1)
            source = place - self.index_of(number).lag(arguments, self.tokens, self.within, number)
            there = numbers.gather(1, source.clamp(min=0))
            found.append(torch.where(source >= 0, there, 0.0))
        return torch.stack(found if self.current else found[1:], dim=-1)


WORKED_EXAMPLE = AdaptiveMemory()
"""y_t = x_t x_{t-g(x_t)} x_{t-g(x_{t-g(x_t)})} over signs."""

PROPOSITION_4_2 = AdaptiveMemory(
    tokens=Ternary(),
    nesting=0,
    memories=1,
    within=(0, 2),
    index=(Lookup(lags=(0, 1, 2)),),
    readout=Sum(),
    current=False,
)
"""y_t = x_{t-g(x_t)} with g(x) = x + 1 over -1, 0, 1: attention without dot products cannot, with them it can."""
