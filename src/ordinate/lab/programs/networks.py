"""Sorting networks: which places are compared in which stage."""

from collections.abc import Iterator

from ordinate.lab.programs.language import powers

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
