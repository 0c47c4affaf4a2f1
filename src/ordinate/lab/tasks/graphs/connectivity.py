"""Which vertices are connected."""

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.graphs.base import Graph
from ordinate.lab.tasks.graphs.drawing import Adjacency
from ordinate.lab.tasks.graphs.steps import longest_of_shortest


def connected(graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex vertex"]:
    """r_ij = 1 where edges lead from i to j, else 0; r_ii = 1.

    Walks of up to 2^s edges after s squarings: log2 n of them reach everything.

    >>> connected(torch.tensor([[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]])).tolist()
    [[[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]]
    """
    vertices = graph.shape[-1]
    reached = (graph != 0).to(graph.dtype) + torch.eye(vertices, dtype=graph.dtype, device=graph.device)
    for _ in range(max(1, (vertices - 1).bit_length())):
        reached = (reached @ reached > 0).to(graph.dtype)
    return reached


class Connectivity(Graph, name="connectivity", summary="which pairs of vertices are connected, as 1 and 0"):
    """Whether edges lead from each vertex to each other one, as 1 and 0.

    Output j of token i says whether vertices i and j are connected; only those above the diagonal are scored. These
    graphs are not connected on purpose: every pair is an edge with probability `density`. The one edge
    0 1 0 / 1 0 0 / 0 0 0 gives 1 0 / 0.

    All pairs are asked for, so the slice `rounds` is the number of edges between those that are furthest apart.
    """

    density: float = Field(0.2, ge=0, le=1, description="probability of every edge in training")

    @property
    @override
    def outputs(self) -> int:
        return self.length

    @override
    def draw(
        self, count: int, length: int | None, density: int | float | None, generator: Generator
    ) -> Adjacency:
        return self.draw_any(count, length, density, generator)

    @override
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex vertex"]:
        return connected(graph)

    @override
    def rounds(self, graph: Float[Tensor, "batch vertex vertex"]) -> Int[Tensor, " batch"]:
        """Steps until every vertex has heard of all that it is connected to."""
        return longest_of_shortest(graph)

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        return torch.ones(self.length, self.length, dtype=torch.bool).triu(1)
