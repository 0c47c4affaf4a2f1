"""Weight of a minimum spanning tree."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.graphs.base import WeightedGraph


def spanning_weight(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, " batch"]:
    """The least total weight of edges that connect all vertices (Prim), infinite where none do.

    Weights are positive and 0 means no edge. All graphs of a batch in step: n - 1 times, the vertex that is cheapest to
    reach joins the tree, and its edges are offered to the others.

    >>> spanning_weight(torch.tensor([[[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]])).tolist()
    [3.0]
    """
    weights = graph.masked_fill(graph == 0, torch.inf)
    price, outside = weights[:, 0].clone(), torch.ones_like(graph[:, 0], dtype=torch.bool)
    outside[:, 0] = False
    row = torch.arange(len(graph), device=graph.device)
    total = graph.new_zeros(len(graph))
    for _ in range(graph.shape[1] - 1):
        # Where the rest cannot be reached all prices outside are infinite, and so is the total from then on.
        least, vertex = price.masked_fill(~outside, torch.inf).min(-1)
        total = total + least
        outside[row, vertex] = False
        price = torch.minimum(price, weights[row, vertex])
    return total


class SpanningTree(WeightedGraph, name="spanning-tree", summary="weight of a minimum spanning tree"):
    """The weight of a minimum spanning tree: 0 1 5 / 1 0 2 / 5 2 0 gives 3.

    The one answer is written at token 0, the only output that is scored; the others are 0.
    """

    @override
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex 1"]:
        answer = torch.zeros_like(graph[..., :1])
        answer[:, 0, 0] = spanning_weight(graph)
        return answer

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        scored = torch.zeros(len(coordinates), 1, dtype=torch.bool)
        scored[0] = True
        return scored
