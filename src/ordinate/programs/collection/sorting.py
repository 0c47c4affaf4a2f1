"""Sorting networks, and what follows from sorted numbers."""

import numpy as np

from ordinate.programs.language import OWN, Range, Value, broadcast, receive
from ordinate.programs.networks import Stage, bitonic, odd_even
from ordinate.programs.program import Program, Words, everywhere

NUMBERS = Range(-1000, 1000, whole=True)
RANK = 3


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
    Program(
        "sort",
        "ascending (bitonic network)",
        sort,
        (NUMBERS,),
        lambda x: np.sort(x, axis=1),
        hard=_orders,
    ),
    Program(
        "merge-sort",
        "ascending (odd-even merge network)",
        merge_sort,
        (NUMBERS,),
        lambda x: np.sort(x, axis=1),
        hard=_orders,
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
        "kth-smallest",
        "third smallest number, everywhere",
        kth_smallest,
        (NUMBERS,),
        lambda x: everywhere(np.partition(x, RANK - 1, axis=1)[:, RANK - 1 : RANK], x.shape[1]),
        hard=_orders,
        shortest=RANK,
    ),
)
