"""Weighted distances from one vertex."""

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.lab.tasks.graphs.base import WeightedGraph


def distances_from_first(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex"]:
    """d_i = the least total weight of a path from vertex 0 to i (Bellman-Ford), infinite where there is none.

    Weights are positive and 0 means no edge. In every round d_i <- min(d_i, min_j d_j + w_ji), at most n - 1 rounds.

    >>> distances_from_first(torch.tensor([[[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]])).tolist()
    [[0.0, 1.0, 3.0]]
    """
    weights = graph.masked_fill(graph == 0, torch.inf)
    distances = torch.full_like(graph[:, 0], torch.inf)
    distances[:, 0] = 0
    for _ in range(graph.shape[1] - 1):
        shorter = torch.minimum(distances, (distances[..., None] + weights).amin(1))
        if torch.equal(shorter, distances):
            break
        distances = shorter
    return distances


class ShortestPath(
    WeightedGraph, name="shortest-path", summary="least total weight from the first vertex to every vertex"
):
    """The least total weight from vertex 0 to every vertex: 0 1 5 / 1 0 2 / 5 2 0 gives 0 / 1 / 3."""

    @override
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex 1"]:
        return distances_from_first(graph).unsqueeze(-1)
