"""Memories whose lags the tokens decide: class II of arXiv 2402.00522."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor
from typing_extensions import override

from ordinate.lab.tasks.memories.base import MemoryTask, check_reach
from ordinate.lab.tasks.memories.indices import Index, Indices, Lookup
from ordinate.lab.tasks.memories.readouts import AnyReadout, Parity, Sum
from ordinate.lab.tasks.memories.tokens import Ternary
from ordinate.lab.tasks.numbers.sampling import whole

MOST = 64
"""Memories."""


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

    nesting: int = Field(2, ge=0, le=MOST, description="K: how many memories are found one by the other")
    memories: int = Field(2, ge=1, le=MOST, description="M, at least K")
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
        most = MOST if len(index) == 1 else self.memories
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
