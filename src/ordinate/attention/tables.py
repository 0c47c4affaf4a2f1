"""What the kernels read from a pattern: made on the CPU once, and copied to every device that asks once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ordinate.coordinates import ordinary_tensors, watched
from ordinate.relations.pattern import ABSENT, Block, Pattern

CPU = torch.device("cpu")
T = TypeVar("T", "DenseTables", "SparseTables")
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


def _limit(absent: Bool[Tensor, "_ _"] | None) -> Float[Tensor, "_ _"] | None:
    if absent is None:
        return None
    limit = torch.full(absent.shape, float("inf"), dtype=torch.float32, device=absent.device)
    return limit.masked_fill_(absent, float("-inf"))


_DENSE: "Kept[DenseTables]" = WeakKeyDictionary()
_SPARSE: "Kept[SparseTables]" = WeakKeyDictionary()


def dense_tables(pattern: Pattern, device: torch.device) -> DenseTables:
    """From the cache after the first call."""
    return _kept(_DENSE, pattern, device, _dense)


def sparse_tables(pattern: Pattern, device: torch.device) -> SparseTables:
    """From the cache after the first call."""
    return _kept(_SPARSE, pattern, device, _sparse)


def _kept(kept: "Kept[T]", pattern: Pattern, device: torch.device, make: Callable[[Pattern], T]) -> T:
    by_device = kept.setdefault(pattern, {})
    if CPU not in by_device:
        with ordinary_tensors():
            by_device[CPU] = make(pattern)
    if device not in by_device:
        with torch.inference_mode(False):
            copied = by_device[CPU].to(device)
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
