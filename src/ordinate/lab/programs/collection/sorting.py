"""Sorting networks, and what follows from sorted numbers."""

from collections.abc import Iterator

import numpy as np

from ordinate.lab.programs.language import (
    OWN,
    Range,
    Value,
    broadcast,
    maximum,
    minimum,
    powers,
    receive,
    shift,
)
from ordinate.lab.programs.program import Outputs, Program, Words, everywhere

NUMBERS = Range(-1000, 1000, whole=True)
SMALL = Range(-100, 100, whole=True)
MOST_WORDS = 64
"""Words of a processor for medians of prefixes, and so their processors."""
RANK = 3


Stage = list[tuple[int, int]]
"""Pairs (i, j) with i < j that are compared at once: i keeps the smaller number, j the larger."""


def bitonic(n: int) -> Iterator[Stage]:
    """Batcher's bitonic network with all comparisons in one direction, so that it works for every n.

    Blocks of size 2k are merged by comparing i with its mirror image in the block, then with i + k/2, i + k/4, ...;
    numbers beyond the last one count as infinite and never move.
    """
    for size in powers(n):
        for flip in (2 * size - 1, *reversed(powers(size))):
            yield [(i, i ^ flip) for i in range(n) if i < i ^ flip < n]


def odd_even(n: int) -> Iterator[Stage]:
    """Batcher's odd-even merge sort (Knuth, volume 3, algorithm 5.2.2M)."""
    for size in powers(n):
        for gap in reversed(powers(2 * size)):
            starts = range(gap % size, n - gap, 2 * gap)
            places = [j + i for j in starts for i in range(min(gap, n - j - gap))]
            yield [(i, i + gap) for i in places if i // (2 * size) == (i + gap) // (2 * size)]


def exchange(x: Value, stage: Stage) -> Value:
    """One stage: the first of each pair receives for a minimum, the second for a maximum."""
    partner = dict(stage)
    back = {j: i for i, j in stage}
    return x.exchange(low=receive(x, partner.get, OWN), high=receive(x, back.get, OWN))


def sort(x: Value) -> Value:
    """Ascending, by the bitonic network."""
    for stage in bitonic(x.n):
        x = exchange(x, stage)
    return x


def merge_sort(x: Value) -> Value:
    """Ascending, by odd-even merging."""
    for stage in odd_even(x.n):
        x = exchange(x, stage)
    return x


def median(x: Value) -> Value:
    """The middle number, or the mean of the two middle ones, in every processor."""
    x, n = sort(x), x.n
    return (broadcast(x, (n - 1) // 2) + broadcast(x, n // 2)) / 2


def kth_smallest(x: Value) -> Value:
    """The third smallest number, in every processor."""
    return broadcast(sort(x), RANK - 1)


def prefix_median(x: Value) -> Value:
    """The median of x_0, ..., x_i: a scan of sorted lists, one of up to 2n words in every processor.

    Every number enters twice, which leaves the median as it is, so that a number before the first can be a lowest and a
    highest one, which leave it too. In the middle of 2n sorted words stand the median, or the two that it is the mean
    of.
    """
    items = [x, x]
    for step in powers(x.n):
        half = len(items) // 2
        missing = [SMALL.low] * half + [SMALL.high] * half
        items = merge([shift(v, step, end) for v, end in zip(items, missing, strict=True)], items)
    middle = len(items) // 2
    return (items[middle - 1] + items[middle]) / 2


def merge(first: list[Value], second: list[Value]) -> list[Value]:
    """Two sorted lists of one length as one, inside a processor: Batcher's bitonic merge."""
    items = [*first, *reversed(second)]
    for half in reversed(powers(len(items))):
        low = {k: (items[k], items[k + half]) for k in range(len(items)) if not k & half}
        items = [minimum(*low[k]) if k in low else maximum(*low[k - half]) for k in range(len(items))]
    return items


def _sorted(inputs: Words) -> Outputs:
    return np.sort(inputs, axis=1)


def _prefix_medians(inputs: Words) -> Outputs:
    prefixes = [np.median(inputs[:, : k + 1], axis=1) for k in range(inputs.shape[1])]
    return np.stack(prefixes, axis=1)


def _orders(n: int) -> list[Words]:
    """Sorted, reversed, rotated and equal numbers, organ pipes, and zeros before, behind and among ones."""
    rising = np.round(np.linspace(-1000, 1000, n))
    place = np.arange(n)
    rows = [rising, rising[::-1], np.roll(rising, n // 2), np.zeros(n), np.minimum(rising, rising[::-1])]
    rows += [(place >= cut).astype(float) for cut in (1, n // 2, n - 1)]
    rows += [(place < cut).astype(float) for cut in (1, n // 2, n - 1)]
    rows += [(place % 2).astype(float), 1.0 - place % 2]
    return [np.array(rows)[..., None]]


SORTING = (
    Program("sort", "ascending (bitonic network)", sort, (NUMBERS,), _sorted, hard=_orders, task="sort"),
    Program(
        "merge-sort",
        "ascending (odd-even merge network)",
        merge_sort,
        (NUMBERS,),
        _sorted,
        hard=_orders,
        task="sort",
    ),
    Program(
        "median",
        "median of all numbers, everywhere",
        median,
        (NUMBERS,),
        lambda x: everywhere(np.median(x, axis=1, keepdims=True), x.shape[1]),
        words=2,
        hard=_orders,
    ),
    Program(
        "prefix-median",
        "median of the numbers so far",
        prefix_median,
        (SMALL,),
        _prefix_medians,
        words=MOST_WORDS,
        hard=lambda n: [np.round(rows / 10) for rows in _orders(n)],
        longest=MOST_WORDS,
        task="median",
    ),
    Program(
        "kth-smallest",
        "third smallest number, everywhere",
        kth_smallest,
        (NUMBERS,),
        lambda x: everywhere(np.partition(x, RANK - 1, axis=1)[:, RANK - 1 : RANK], x.shape[1]),
        hard=_orders,
        shortest=RANK,
    ),
)
