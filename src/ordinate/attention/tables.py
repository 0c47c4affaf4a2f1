"""What the kernels read from a pattern: made on the CPU once, and copied to every device that asks once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ordinate.coordinates import ordinary_tensors, watched
from ordinate.relations.pattern import ABSENT, Block, Pattern

CPU = torch.device("cpu")
T = TypeVar("T", "DenseTables", "SparseTables", "BlockedTables | None")
Kept = WeakKeyDictionary[Pattern, dict[torch.device, T]]


@dataclass(frozen=True, eq=False)
class DenseTables:
    """The classes of all pairs; those without a vector, plain or not attended, have the id after the last class."""

    classes: Int[Tensor, "query key"]
    count: int
    """How many ids there are, that one included."""
    absent: Bool[Tensor, "query key"] | None
    """Which pairs are not attended; None where all are."""
    diagonals: Int[Tensor, " offset"] | None
    """The class of every offset key - query, from 1 - tokens up; None where offsets do not decide the class.

    None also where classes are fewer than tokens: the product with a short table and a lookup is then faster than that
    with a vector for every offset (measured at 101 and 512 tokens).
    """

    @cached_property
    @torch.inference_mode(False)
    def index(self) -> Int[Tensor, " pair"]:
        """Where in a flat [query, class] a pair of a flat [query, key] is looked up."""
        queries = torch.arange(len(self.classes), device=self.classes.device)
        return (self.classes + queries[:, None] * self.count).flatten()

    @cached_property
    @torch.inference_mode(False)
    def limit(self) -> Float[Tensor, "query key"] | None:
        """The most that a score may be: infinity, and minus infinity where the pair is absent; None where none is."""
        return _limit(self.absent)

    @cached_property
    @torch.inference_mode(False)
    def attended(self) -> Float[Tensor, "key query"]:
        """1 where a query attends to a key, 0 elsewhere."""
        return (
            torch.ones_like(self.classes, dtype=torch.float32)
            if self.absent is None
            else (~self.absent).float().T
        )

    def to(self, device: torch.device) -> "DenseTables":
        """A copy on another device."""
        absent, diagonals = (x if x is None else x.to(device) for x in (self.absent, self.diagonals))
        return DenseTables(self.classes.to(device), self.count, absent, diagonals)


@dataclass(frozen=True, eq=False)
class SparseTables:
    """Blocks of queries, none of them empty; for each, what its slots are."""

    blocks: tuple[Block, ...]
    classes: tuple[Int[Tensor, " _"], ...]
    absent: tuple[Bool[Tensor, "_ _"] | None, ...]
    """Where a slot has no key; None where all have one."""

    @cached_property
    @torch.inference_mode(False)
    def limits(self) -> tuple[Float[Tensor, "_ _"] | None, ...]:
        """The most that a score may be: infinity, and minus infinity where a slot has no key."""
        return tuple(map(_limit, self.absent))

    @cached_property
    @torch.inference_mode(False)
    def attended(self) -> tuple[Float[Tensor, "_ _"], ...]:
        """1 where a slot has a key, 0 elsewhere."""
        return tuple(
            torch.ones(len(block.classes), block.last - block.first, device=classes.device)
            if absent is None
            else (~absent).float()
            for block, classes, absent in zip(self.blocks, self.classes, self.absent, strict=True)
        )

    def to(self, device: torch.device) -> "SparseTables":
        """A copy on another device."""
        absent = tuple(x if x is None else x.to(device) for x in self.absent)
        return SparseTables(self.blocks, tuple(x.to(device) for x in self.classes), absent)


class Stretch(NamedTuple):
    """Neighbouring keys that a block reads, and where its offsets, from that of the last query and the first key on,
    begin in `BlockedTables.classes`."""

    first: int
    last: int
    table: int


class QueryBlock(NamedTuple):
    """Neighbouring queries, and all keys that they attend to."""

    first: int
    last: int
    stretches: tuple[Stretch, ...]

    @property
    def size(self) -> int:
        """How many queries."""
        return self.last - self.first

    @property
    def keys(self) -> int:
        """How many keys are read."""
        return sum(stretch.last - stretch.first for stretch in self.stretches)


@dataclass(frozen=True, eq=False)
class BlockedTables:
    """Blocks of queries with stretches of keys in which an offset decides the class."""

    blocks: tuple[QueryBlock, ...]
    classes: Int[Tensor, " offset"]
    """The class of every offset; `plain` and `plain` + 1 stand for plain and absent."""
    plain: int
    absences: bool
    """Whether a pair of a block with one of its keys is absent anywhere."""

    @property
    def pairs(self) -> int:
        """How many scores are computed, those of absent pairs included."""
        return sum(block.size * block.keys for block in self.blocks)

    def attended(self, block: QueryBlock, stretch: Stretch) -> Float[Tensor, "key query"]:
        """1 where a query of the block attends to a key of the stretch, 0 elsewhere."""
        keys = stretch.last - stretch.first
        there = self.classes[stretch.table : stretch.table + keys + block.size - 1] <= self.plain
        return there.float().unfold(0, keys, 1).flip(0).T  # the last query has the first offset

    def rows(
        self,
        vectors: Float[Tensor, "#head cls dim"] | None,
        bias: Float[Tensor, "#head cls"] | None,
        like: Tensor,
    ) -> Float[Tensor, "head offset dim_and_1"] | None:
        """Of every offset what queries are multiplied with, and what is added; None where that is nothing at all."""
        if vectors is None and bias is None and not self.absences:
            return None
        heads = max(len(part) for part in (vectors, bias, like[:1]) if part is not None)
        added = like.new_zeros(1, self.plain) if bias is None else bias
        none, never = added.new_zeros(len(added), 1), added.new_full((len(added), 1), float("-inf"))
        columns = [torch.cat([added, none, never], 1)[..., None].expand(heads, -1, -1)]
        if vectors is not None:
            none = vectors.new_zeros(len(vectors), 2, vectors.shape[2])
            columns.insert(0, torch.cat([vectors, none], 1).expand(heads, -1, -1))
        return torch.cat(columns, -1).index_select(1, self.classes)

    def to(self, device: torch.device) -> "BlockedTables":
        """A copy on another device."""
        return replace(self, classes=self.classes.to(device))


def _limit(absent: Bool[Tensor, "_ _"] | None) -> Float[Tensor, "_ _"] | None:
    if absent is None:
        return None
    limit = torch.full(absent.shape, float("inf"), dtype=torch.float32, device=absent.device)
    return limit.masked_fill_(absent, float("-inf"))


QUERIES = 64
"""Queries in a block."""

_DENSE: "Kept[DenseTables]" = WeakKeyDictionary()
_SPARSE: "Kept[SparseTables]" = WeakKeyDictionary()
_BLOCKED: "Kept[BlockedTables | None]" = WeakKeyDictionary()


def dense_tables(pattern: Pattern, device: torch.device) -> DenseTables:
    """From the cache after the first call."""
    return _kept(_DENSE, pattern, device, _dense)


def sparse_tables(pattern: Pattern, device: torch.device) -> SparseTables:
    """From the cache after the first call."""
    return _kept(_SPARSE, pattern, device, _sparse)


def blocked_tables(pattern: Pattern, device: torch.device) -> BlockedTables | None:
    """From the cache after the first call; None where there are none."""
    return _kept(_BLOCKED, pattern, device, _blocked)


def _kept(kept: "Kept[T]", pattern: Pattern, device: torch.device, make: Callable[[Pattern], T]) -> T:
    by_device = kept.setdefault(pattern, {})
    if CPU not in by_device:
        with ordinary_tensors():
            by_device[CPU] = make(pattern)
    if device not in by_device:
        with torch.inference_mode(False):
            there = by_device[CPU]
            copied = there if there is None else there.to(device)
        if watched():
            return copied
        by_device[device] = copied
    return by_device[device]


def _dense(pattern: Pattern) -> DenseTables:
    absent = pattern.dense == ABSENT
    classes, count = pattern.dense.masked_fill(absent, pattern.plain), pattern.classes + 1
    diagonals = None
    if count > pattern.tokens > 0 and torch.equal(classes[1:, 1:], classes[:-1, :-1]):
        diagonals = torch.cat([classes[:, 0].flip(0), classes[0, 1:]])
    return DenseTables(classes, count, absent if bool(absent.any()) else None, diagonals)


def _sparse(pattern: Pattern) -> SparseTables:
    blocks = tuple(block for block in pattern.blocks if block.last > block.first)
    return SparseTables(
        blocks,
        tuple(torch.tensor(block.classes, dtype=torch.long) for block in blocks),
        tuple(_without_keys(block) for block in blocks),
    )


def _without_keys(block: Block) -> Bool[Tensor, "slot query"] | None:
    absent = torch.ones(len(block.classes), block.last - block.first, dtype=torch.bool)
    for run in block.runs:
        absent[run.slot, run.first - block.first : run.last - block.first] = False
    return absent if bool(absent.any()) else None


def _blocked(pattern: Pattern) -> BlockedTables | None:
    """None where offsets do not decide the class inside of a block."""
    query, key, bounds = pattern.query, pattern.key, pattern.bounds
    fields = len(bounds) - 1
    if not len(query):
        return None
    firsts = torch.tensor([cut for first, last in pairwise(bounds) for cut in _cuts(first, last)])
    lasts = torch.cat([firsts[1:], torch.tensor([pattern.tokens])])
    field = torch.searchsorted(torch.tensor(bounds[1:]), torch.stack([query, key]), right=True)
    owner = torch.searchsorted(lasts, query, right=True) * fields + field[1]  # a block, and a field of keys
    low = torch.full((len(firsts) * fields,), pattern.tokens).scatter_reduce_(0, owner, key, "amin")
    high = torch.full((len(firsts) * fields,), -1).scatter_reduce_(0, owner, key, "amax") + 1
    owners = (high > 0).nonzero().flatten()  # renumbered: those that have pairs
    owner = torch.searchsorted(owners, owner)
    block, low, high = owners // fields, low[owners], high[owners]
    first, last = firsts[block], lasts[block]
    nearest, width = low - last + 1, (high - low) + (last - first) - 1  # offsets of a rectangle

    begin = width.cumsum(0) - width
    place = begin[owner] + key - query - nearest[owner]
    absent, plain = pattern.plain + 1, pattern.plain
    classes = torch.full((int(width.sum()),), absent)
    classes[place] = pattern.label
    rectangle = torch.repeat_interleave(torch.arange(len(owners)), width)
    inside = torch.arange(len(classes)) - begin[rectangle]
    both = torch.stack(
        [inside + 1, width[rectangle] - inside, (high - low)[rectangle], (last - first)[rectangle]]
    )
    count = torch.bincount(place, minlength=len(classes))
    regular = torch.equal(classes[place], pattern.label) and bool(
        ((count == 0) | (count == both.amin(0))).all()
    )
    if not regular:
        return None

    pair = torch.searchsorted(torch.tensor(bounds[1:]), first, right=True) * fields + owners % fields
    lowest = torch.full((fields**2,), pattern.tokens).scatter_reduce_(0, pair, nearest, "amin")
    end = torch.full((fields**2,), -pattern.tokens).scatter_reduce_(0, pair, nearest + width, "amax")
    start = (end - lowest).clamp(min=0).cumsum(0) - (end - lowest).clamp(min=0)
    shared = torch.full((int((end - lowest).clamp(min=0).sum()),), absent)
    begin_shared = start[pair] + nearest - lowest[pair]
    where = begin_shared[rectangle] + inside
    shared[where] = classes
    if torch.equal(shared[where], classes):  # all blocks of two fields say the same
        classes, begin = shared, begin_shared
    stretches: list[list[Stretch]] = [[] for _ in firsts]
    for b, *stretch in zip(*(x.tolist() for x in (block, low, high, begin)), strict=True):
        stretches[b].append(Stretch(*stretch))
    blocks = zip(firsts.tolist(), lasts.tolist(), map(tuple, stretches), strict=True)
    return BlockedTables(
        tuple(QueryBlock(*block) for block in blocks), classes, plain, bool((classes == absent).any())
    )


def _cuts(first: int, last: int) -> list[int]:
    """Where blocks of a field begin, all of nearly the same size."""
    count = -(-(last - first) // QUERIES)
    return [first + (last - first) * n // count for n in range(count)]
