"""Patterns: a relation worked out for one set of coordinates, in the forms that attention computes with."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

ABSENT = -1
"""In `Pattern.dense`: the pair is not attended."""


class Run(NamedTuple):
    """In this slot, queries `first` to `last` - 1 look at the key `query + shift`: a view, not a lookup."""

    slot: int
    first: int
    last: int
    shift: int


@dataclass(frozen=True)
class Block:
    """Neighbouring queries with one list of slots; a slot has one class, and at most one key for each query.

    Slots that no run covers at a query are absent there.
    """

    first: int
    last: int
    classes: tuple[int, ...]
    """The class of every slot; the number of classes itself stands for plain."""
    runs: tuple[Run, ...]


@dataclass(frozen=True, eq=False)
class Pattern:
    """All attended pairs of a sequence, sorted by query; class ids run from 0, the id `classes` is plain."""

    tokens: int
    classes: int
    query: Int[Tensor, " pair"]
    key: Int[Tensor, " pair"]
    label: Int[Tensor, " pair"]
    bounds: tuple[int, ...]
    """First queries of the blocks (where a new field begins), and the number of tokens at the end."""

    @property
    def plain(self) -> int:
        """The id of attended pairs without a vector."""
        return self.classes

    @property
    def keys_per_query(self) -> float:
        """How many keys a query looks at, on average."""
        return len(self.query) / max(1, self.tokens)

    @cached_property
    @torch.inference_mode(False)
    def dense(self) -> Int[Tensor, "query key"]:
        """The class of every pair, `ABSENT` where it is not attended."""
        classes = torch.full((self.tokens, self.tokens), ABSENT, dtype=torch.long)
        classes[self.query, self.key] = self.label
        return classes

    @cached_property
    @torch.inference_mode(False)
    def blocks(self) -> tuple[Block, ...]:
        """The same pairs as slots and runs."""
        return tuple(
            self._block(first, last) for first, last in zip(self.bounds, self.bounds[1:], strict=False)
        )

    def _block(self, first: int, last: int) -> Block:
        inside = (self.query >= first) & (self.query < last)
        query, key, label = self.query[inside], self.key[inside], self.label[inside]
        order = torch.argsort((query * (self.classes + 1) + label) * self.tokens + key)
        query, key, label = query[order], key[order], label[order]
        occurrence = _rank_in_group(query * (self.classes + 1) + label)
        most = int(occurrence.max()) + 1 if len(occurrence) else 1
        slots, slot = torch.unique(label * most + occurrence, return_inverse=True)
        keys = torch.full((len(slots), last - first), ABSENT, dtype=torch.long)
        keys[slot, query - first] = key
        return Block(
            first,
            last,
            tuple((slots // most).tolist()),
            tuple(run for s, row in enumerate(keys) for run in _runs(s, first, row)),
        )


def _rank_in_group(group: Int[Tensor, " pair"]) -> Int[Tensor, " pair"]:
    """Number the members of every group of equal neighbours from 0."""
    place = torch.arange(len(group))
    starts = torch.ones(len(group), dtype=torch.bool)
    starts[1:] = group[1:] != group[:-1]
    return place - torch.cummax(torch.where(starts, place, 0), 0).values if len(group) else place


def _runs(slot: int, first: int, keys: Int[Tensor, " query"]) -> list[Run]:
    """Cut a row of keys where the distance from query to key changes."""
    shift = torch.where(keys == ABSENT, torch.iinfo(torch.long).min, keys - torch.arange(len(keys)) - first)
    cuts = [0, *(torch.nonzero(shift[1:] != shift[:-1]).flatten() + 1).tolist(), len(keys)]
    return [Run(slot, first + a, first + b, int(shift[a])) for a, b in pairwise(cuts) if keys[a] != ABSENT]
