"""Randomized positions (Ruoss et al. 2023, arXiv 2305.16843)."""

from typing import ClassVar

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, Terms
from ordinate.encodings.sinusoidal import waves
from ordinate.encodings.vectors import append
from ordinate.errors import OrdinateError


def drawn(tokens: int, furthest: int) -> Int[Tensor, " token"]:
    """`tokens` different positions below `furthest`, in order; from the global generator."""
    return torch.randperm(furthest)[:tokens].sort().values


def spread(tokens: int, furthest: int) -> Int[Tensor, " token"]:
    """Where `drawn` puts each token on average, rounded down: (i + 1) (furthest + 1) / (tokens + 1) - 1.

    >>> spread(3, 2047).tolist()
    [511, 1023, 1535]
    """
    return (torch.arange(tokens) + 1) * (furthest + 1) // (tokens + 1) - 1


class RandomizedEncoding(Encoding):
    """Rows of a long table of waves: drawn for every call in training, spread evenly outside of it."""

    random: bool = True
    table: Tensor

    def __init__(self, furthest: int, width: int) -> None:
        super().__init__()
        self.furthest, self.extra_features = furthest, width
        self.register_buffer("table", waves(torch.arange(furthest), width).float(), persistent=False)

        self._spread = Cache[Tensor]()

    def check(self, tokens: int) -> None:
        """Refuse sequences with more tokens than positions."""
        if tokens > self.furthest:
            raise OrdinateError(
                f"{tokens} tokens, but randomized positions end at {self.furthest}: "
                f"write model.encoding.furthest = {tokens} or more and train again, or evaluate shorter sequences"
            )

    def positions(self, tokens: int) -> Int[Tensor, " token"]:
        """The row of every token, in this mode."""
        self.check(tokens)
        if self.training:
            return drawn(tokens, self.furthest)
        return self._spread(tokens, lambda: spread(tokens, self.furthest))

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """X | P."""
        return append(x, self.table[self.positions(len(coordinates)).to(self.table.device)])


class Randomized(EncodingSettings):
    """P[i] = waves of r_i, where r is a sorted random subset of 0 .. furthest - 1, drawn for each batch.

    Lengths never trained then use positions that were. Outside training mode nothing is drawn: token i of n stands at
    its average place, floor((i + 1) (furthest + 1) / (n + 1)) - 1. (The paper draws there too.)

    Example: `encoding = {kind = "randomized", furthest = 2048, width = 16}`.
    """

    name: ClassVar[str] = "randomized"
    summary: ClassVar[str] = "sinusoidal rows at sorted random positions, new ones for every batch"
    extrapolation: ClassVar[str] = (
        "defined: up to `furthest` tokens, all of whose positions are trained; refused above"
    )
    source: ClassVar[str] = "Ruoss et al. 2023, arXiv 2305.16843"

    furthest: int = Field(2048, ge=1, le=10**6, description="positions to draw from: the longest sequence")
    width: int = Field(16, ge=1, le=4096, description="columns appended to a token")

    @classmethod
    def for_contest(cls, terms: Terms) -> "Randomized":
        """Four times as many positions as tokens are measured: 2048 for 500 in the paper."""
        return cls(width=terms.columns, furthest=4 * len(terms.measured))

    def build(self, spec: BuildSpec) -> RandomizedEncoding:
        """The longest trained sequence has to fit."""
        encoding = RandomizedEncoding(self.furthest, self.width)
        encoding.check(spec.capacity)
        return encoding
