"""The definitions: by recursion, and by trying everything."""

from functools import cache
from itertools import combinations


def edit_distance(first, second):
    @cache
    def distance(i, j):
        if not i or not j:
            return i + j
        replaced = distance(i - 1, j - 1) + (first[i - 1] != second[j - 1])
        return min(distance(i - 1, j) + 1, distance(i, j - 1) + 1, replaced)

    return distance(len(first), len(second))


def lcs(first, second):
    """Try the subsequences of `first`, longest first."""

    def inside(part):
        rest = iter(second)
        return all(number in rest for number in part)

    sizes = range(len(first), -1, -1)
    return next(size for size in sizes if any(map(inside, combinations(first, size))))


def knapsack(weights, values, capacity):
    """Try all sets of items."""
    items = range(len(weights))
    fitting = (
        chosen
        for size in range(len(weights) + 1)
        for chosen in combinations(items, size)
        if sum(weights[i] for i in chosen) <= capacity
    )
    return max(sum(values[i] for i in chosen) for chosen in fitting)
