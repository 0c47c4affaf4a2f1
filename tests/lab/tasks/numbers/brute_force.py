"""The answers once more, one sequence at a time, in plain Python and by other means than the library."""

import math
import statistics


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
