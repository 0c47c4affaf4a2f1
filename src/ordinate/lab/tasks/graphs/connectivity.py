"""Which vertices are connected."""

from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Generator, Tensor

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


class Connectivity(Graph):
    """Whether edges lead from each vertex to each other one, as 1 and 0.

    Output j of token i says whether vertices i and j are connected; only those above the diagonal are scored. These
    graphs are not connected on purpose: every pair is an edge with probability `density`. The one edge
    0 1 0 / 1 0 0 / 0 0 0 gives 1 0 / 0.

    All pairs are asked for, so the slice `rounds` is the number of edges between those that are furthest apart.
    """

    name: ClassVar[str] = "connectivity"
    summary: ClassVar[str] = "which pairs of vertices are connected, as 1 and 0"

    density: float = Field(0.2, ge=0, le=1, description="probability of every edge in training")

    @property
    def outputs(self) -> int:
        """One for every vertex."""
        return self.length

    def draw(
        self, count: int, length: int | None, density: int | float | None, generator: Generator
    ) -> Adjacency:
        """Without a tree."""
        return self.draw_any(count, length, density, generator)

    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex vertex"]:
        """Ones and zeros."""
        return connected(graph)

    def rounds(self, graph: Float[Tensor, "batch vertex vertex"]) -> Int[Tensor, " batch"]:
        """Steps until every vertex has heard of all that it is connected to."""
        return longest_of_shortest(graph)

    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        """Only pairs above the diagonal."""
        return torch.ones(self.length, self.length, dtype=torch.bool).triu(1)
