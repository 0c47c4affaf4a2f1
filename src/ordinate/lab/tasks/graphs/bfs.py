"""Distances by breadth-first search."""

from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.lab.tasks.graphs.base import Graph
from ordinate.lab.tasks.graphs.steps import steps_from_first


class Bfs(
    Graph, name="bfs", summary="fewest edges from the first vertex to every vertex of a connected graph"
):
    """How many edges lead from vertex 0 to every vertex: 0 1 0 / 1 0 1 / 0 1 0 gives 0 / 1 / 2."""

    @override
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex 1"]:
        return steps_from_first(graph).unsqueeze(-1)
