"""Slow, obvious answers in plain Python: one sample, one place after the other."""

import math
import statistics
from functools import cache
from itertools import combinations


def prefixes(x):
    return [x[:k] for k in range(1, len(x) + 1)]


def cumulative_sum(x):
    return [math.fsum(prefix) for prefix in prefixes(x)]


def cumulative_min(x):
    return [sorted(prefix)[0] for prefix in prefixes(x)]


def cumulative_max(x):
    return [sorted(prefix)[-1] for prefix in prefixes(x)]


def cumulative_median(x):
    return [statistics.median(prefix) for prefix in prefixes(x)]


def cumulative_max_subarray(x):
    return [
        max(math.fsum(prefix[i : j + 1]) for i in range(len(prefix)) for j in range(i, len(prefix)))
        for prefix in prefixes(x)
    ]


def ascending(x):
    return sorted(x)


def min_pairwise_sum(x):
    n = len(x) // 2
    best = math.inf
    for i in range(n):
        best = min(best, x[i] + x[n + i])
    return best


def floyd_warshall(adjacency):
    """Distances in a graph given as rows of weights, 0 for no edge."""
    n = len(adjacency)
    d = [[0.0 if i == j else adjacency[i][j] or math.inf for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return d


def walk(adjacency):
    """Distances in a tree, by walking from every vertex: no vertex is reached twice."""
    n = len(adjacency)
    distances = []
    for start in range(n):
        reached, frontier = {start: 0.0}, [start]
        while frontier:
            here = frontier.pop()
            for there in range(n):
                if adjacency[here][there] and there not in reached:
                    reached[there] = reached[here] + adjacency[here][there]
                    frontier.append(there)
        distances.append([reached[v] for v in range(n)])
    return distances


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


def hop(letters: str, k: int) -> str:
    """hop_k in the words of the definition: places from 1, 0 for nowhere."""

    def find(i: int) -> int:
        return max([0, *(j for j in range(2, i + 1) if letters[j - 2] == letters[i - 1])])

    answers = []
    for start in range(1, len(letters) + 1):
        place = start
        for _ in range(k):
            place = find(place) if place else 0
        answers.append(letters[place - 1] if place else "~")
    return "".join(answers)


def before(x, t, lag):
    """x_{t-lag}, 0 before the first token."""
    return x[t - lag] if t >= lag else 0.0


def fixed(x, lags, f):
    """f(x_{t-T_1}, ...) for every t."""
    return [f([before(x, t, lag) for lag in lags]) for t in range(len(x))]


def adaptive(x, nesting, memories, g, f, current=True):
    """Memories one by one; g(i, arguments) is the lag of memory i, arguments x_t, x_{t-t_1}, ..."""
    answers = []
    for t in range(len(x)):
        found = []
        for i in range(1, memories + 1):
            known = found[: i - 1] if i <= nesting else found[:nesting]
            found.append(before(x, t, g(i, [x[t], *known])))
        answers.append(f([x[t], *found] if current else found))
    return answers


def decaying(x, kernels, f):
    """f of the sums over all that is behind."""
    return [f([math.fsum(rho(s) * x[t - s] for s in range(t + 1)) for rho in kernels]) for t in range(len(x))]


def majority(m):
    up, down = sum(v > 0 for v in m), sum(v < 0 for v in m)
    return float((up > down) - (up < down))


def relus(directions):
    return lambda m: sum(max(0.0, sum(w * v for w, v in zip(row, m, strict=True))) for row in directions)


def lookup(table, values):
    """A table over all combinations, the first turning slowest."""

    def read(m):
        place = 0
        for v in m:
            # zeros before the first token fall to the upper neighbour of signs
            place = place * len(values) + (values.index(v) if v in values else 1)
        return table[place]

    return read
