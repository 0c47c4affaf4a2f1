"""Patterns: a relation worked out for one set of coordinates, in the forms that attention computes with."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ordinate.coordinates import ordinary_tensors

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
    @ordinary_tensors()
    def dense(self) -> Int[Tensor, "query key"]:
        """The class of every pair, `ABSENT` where it is not attended."""
        classes = torch.full((self.tokens, self.tokens), ABSENT, dtype=torch.long)
        classes[self.query, self.key] = self.label
        return classes

    @cached_property
    @ordinary_tensors()
    def blocks(self) -> tuple[Block, ...]:
        """The same pairs as slots and runs."""
        count = len(self.bounds) - 1
        block = torch.searchsorted(torch.tensor(self.bounds[1:]), self.query, right=True)
        order = _order(block * (self.classes + 1) + self.label, count * (self.classes + 1))
        block, label, query, key = (part[order] for part in (block, self.label, self.query, self.key))
        rank = _rank_among_equals(block * (self.classes + 1) + label, query)
        most = int(rank.max()) + 1 if len(rank) else 1
        slot = (block * (self.classes + 1) + label) * most + rank
        if most > 1:
            order = _order(slot, count * (self.classes + 1) * most)
            block, label, query, key, slot = (part[order] for part in (block, label, query, key, slot))
        shift = key - query
        begins = _changes(slot) | _changes(shift) | _changes(query, step=1)
        starts = begins.nonzero().flatten()
        slots = _changes(slot)[starts]  # which of the runs begin a slot
        classes: list[list[int]] = [[] for _ in range(count)]
        runs: list[list[Run]] = [[] for _ in range(count)]
        ends = torch.cat([starts, starts.new_tensor([len(slot)])])[1:] - 1
        columns = (block[starts], label[starts], slots, query[starts], query[ends], shift[starts])
        for b, c, new, first, last, far in zip(*(column.tolist() for column in columns), strict=True):
            if new:
                classes[b].append(c)
            runs[b].append(Run(len(classes[b]) - 1, first, last + 1, far))
        return tuple(
            Block(first, last, tuple(classes[b]), tuple(runs[b]))
            for b, (first, last) in enumerate(zip(self.bounds, self.bounds[1:], strict=False))
        )


def _order(group: Int[Tensor, " pair"], groups: int) -> Int[Tensor, " pair"]:
    """Sort by group, and leave the order inside of a group."""
    return (group.to(torch.int16) if groups < 2**15 else group).argsort(stable=True)


def _changes(values: Int[Tensor, " pair"], step: int = 0) -> Bool[Tensor, " pair"]:
    """Where a value is not the one before it plus the step; true at the beginning."""
    changed = torch.ones(len(values), dtype=torch.bool)
    changed[1:] = values[1:] != values[:-1] + step
    return changed


def _rank_among_equals(group: Int[Tensor, " pair"], query: Int[Tensor, " pair"]) -> Int[Tensor, " pair"]:
    """Number the pairs of one group and one query, which are neighbours, from 0."""
    starts = _changes(group) | _changes(query)
    place = torch.arange(len(group))
    return place if not len(place) else place - torch.cummax(torch.where(starts, place, 0), 0).values
