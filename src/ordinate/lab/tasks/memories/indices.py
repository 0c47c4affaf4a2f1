"""Index functions g: how far back a memory is, decided by tokens that were found before."""

from abc import abstractmethod
from functools import lru_cache
from typing import Annotated, Any

import torch
from jaxtyping import Float, Int
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, choose
from ordinate.lab.tasks.memories.tokens import Tokens

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


class Line(
    Index, name="line", summary="rounded linear function of the tokens found so far, the newest first"
):
    """round(bias + weights . tokens found so far, the newest first), at the nearest end of the range where `clip`.

    Tokens further back than there are weights for count nothing.
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


INDICES: dict[str, type[Index]] = {kind.name: kind for kind in (Lookup, Drawn, Line)}


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
