"""Memories at fixed lags: class I of arXiv 2402.00522."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.memories.base import MemoryTask, check_reach
from ordinate.lab.tasks.numbers.sampling import whole


def recall(numbers: Float[Tensor, "batch token"], lags: Sequence[int]) -> Float[Tensor, "batch token memory"]:
    """The numbers so many places back, 0 before the first.

    >>> recall(torch.tensor([[1.0, 2.0, 3.0]]), (0, 2)).tolist()
    [[[1.0, 0.0], [2.0, 0.0], [3.0, 1.0]]]
    """
    tokens = numbers.shape[1]
    return torch.stack([pad(numbers, (lag, 0))[:, :tokens] for lag in lags], dim=-1)


class FixedMemory(
    MemoryTask,
    name="fixed-memory",
    summary="function of the tokens at fixed lags",
    axes=("length", "lag", "memories"),
):
    """A function of the tokens at fixed lags: with the lags 1 and 3 and their parity, 1 -1 1 1 1 gives . . . 1 -1.

        y_t = f(x_{t-T_1}, ..., x_{t-T_M})

    Lag 0 is the token itself. f is a sparse Boolean function (`parity`, `and`, `majority`, any `boolean` table), a
    random `n-gram` table, a `sum`, or a sum of `relus`.

    Harder along `length`, `lag` (the furthest memory moves there, the others stay) and `memories` (so many of the lags
    count, nearest first).
    """

    lags: tuple[int, ...] = Field((2, 5), min_length=1, max_length=1024, description="T_1 < T_2 < ...")

    @model_validator(mode="after")
    def _fits(self) -> "FixedMemory":
        if self.lags[0] < 0 or any(a >= b for a, b in zip(self.lags, self.lags[1:], strict=False)):
            raise ValueError(
                f"must have lags from 0 up, each larger than the one before, got {list(self.lags)}"
            )
        check_reach(self.reach, self.length)
        self.readout.check(len(self.lags), self.tokens)
        return self

    @property
    @override
    def reach(self) -> int:
        return self.lags[-1]

    @override
    def value(self, axis: str) -> int:
        return self.lags[-1] if axis == "lag" else len(self.lags)

    @override
    def changed(self, axes: Mapping[str, int]) -> dict[str, Any]:
        """Other lags."""
        lags = self.lags[: whole("memories", axes.get("memories", len(self.lags)), 1, len(self.lags))]
        if "lag" in axes:
            lag = axes["lag"]
            if len(lags) > 1 and lag <= lags[-2]:
                raise OrdinateError(
                    f"lag {lag} is not beyond the other lags {list(lags[:-1])}: write lag={lags[-2] + 1} or more"
                )
            lags = (*lags[:-1], lag)
        return {"lags": lags}

    @override
    def memories_of(self, numbers: Float[Tensor, "batch token"]) -> Float[Tensor, "batch token memory"]:
        return recall(numbers, self.lags)
