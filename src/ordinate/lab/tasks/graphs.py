"""Tasks on undirected graphs, one vertex a token, whose vertices are named at random."""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field, model_validator
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.adjacency import (
    Adjacency,
    connected,
    distances_from_first,
    draw_pairs,
    draw_tree,
    either_end,
    longest_of_shortest,
    spanning_weight,
    steps_from_first,
)
from ordinate.lab.tasks.base import Task, only_first
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.presentation import read_matrix, rows, write_short
from ordinate.lab.tasks.sampling import LARGEST, chances, check_count, check_length, check_scale, draw_numbers

LARGEST_GRAPH = 512


class Graph(Task, family="graphs", axes=("density",), slices=("rounds",)):
    """An undirected graph as its adjacency matrix: token i is vertex i, its features are row i.

    A token has `length` features, so all graphs of a task have `length` vertices. Graphs are connected: a random tree,
    and every other pair of vertices with probability `density`, the axis along which they get denser or sparser than in
    training. Answers that start somewhere start at vertex 0; vertices are named at random, so it is any vertex.

    The slice `rounds` is the number of edges to the furthest vertex that vertex 0 reaches: how often what is known of
    it has to be passed on.
    """

    length: int = Field(8, ge=2, le=LARGEST_GRAPH, description=f"vertices, 2 to {LARGEST_GRAPH}")
    density: float = Field(
        0.2, ge=0, le=1, description="probability of every edge beyond those of a tree, in training"
    )

    joined: ClassVar[bool] = True
    """Whether a tree makes all graphs connected."""

    @abstractmethod
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex out"]:
        """The answers for undirected graphs."""

    @property
    @override
    def features(self) -> int:
        return self.length

    @property
    @override
    def outputs(self) -> int:
        return 1

    @override
    def lengths(self) -> tuple[int, ...]:
        return (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        if length != self.length:
            check_length(length, shortest=2, longest=LARGEST_GRAPH)
            raise OrdinateError(
                f"a graph of {length} vertices needs tokens of {length} features, these have {self.length}: "
                f"write length={length} as an option of the task"
            )
        return fields_of(vertex=length)

    @override
    def seen(self, axis: str, value: float) -> bool:
        return value == self.density if axis == "density" else super().seen(axis, value)

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        density: int | float | None = None,
    ) -> Batch:
        return self.answered(self.draw(count, length, density, generator).float())

    def draw(
        self, count: int, length: int | None, density: int | float | None, generator: Generator
    ) -> Adjacency:
        """Draw every edge with the same probability, and a tree beside them where graphs are connected."""
        check_count(count)
        self.coordinates(self.length if length is None else length)
        share = self.density if density is None else density
        if not 0 <= share <= 1:
            raise OrdinateError(f"density must be 0 to 1, got {share:g}: write density={self.density}")
        pairs = draw_pairs(count, self.length, share, generator)
        return pairs | draw_tree(count, self.length, generator) if self.joined else pairs

    def answered(self, inputs: Float[Tensor, "batch vertex vertex"]) -> Batch:
        """The batch of these matrices."""
        return Batch(inputs, self.reference(inputs), self.coordinates(self.length))

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token feature"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token out"]:
        """Answer the graphs that the rows describe; see `either_end` for rows that disagree."""
        if inputs.shape[1] != inputs.shape[2]:
            raise OrdinateError(
                f"an adjacency matrix is square, got {inputs.shape[1]} rows of {inputs.shape[2]}: "
                "write as many rows as there are columns"
            )
        return self.solve(either_end(inputs))

    @override
    def slice(self, name: str, batch: Batch) -> Int[Tensor, " batch"]:
        if name not in self.slices:
            return super().slice(name, batch)
        return self.rounds(either_end(batch.input))

    def rounds(self, graph: Float[Tensor, "batch vertex vertex"]) -> Int[Tensor, " batch"]:
        """How often what is known has to be passed on."""
        steps = steps_from_first(graph)
        return steps.masked_fill(steps.isinf(), 0).amax(-1).long()

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token feature"]:
        inputs = batch.input.clone()
        chance = chances((len(inputs), self.length), generator)
        inputs[:, token] = (chance < max(self.density, 1 / self.length)).to(inputs)
        inputs[:, token, token] = 0
        return inputs

    @override
    def parse(self, text: str) -> Batch:
        inputs = read_matrix(text)[None]
        self.coordinates(inputs.shape[1])
        batch = self.answered(inputs)
        if not batch.target.isfinite().all():
            raise OrdinateError(f"{self.name} asks for a connected graph: write more edges")
        return batch

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        scored = self.scored(batch.coordinates)

        def answers(y: Float[Tensor, "vertex out"]) -> str:
            return " / ".join(
                write_short(row[keep]) for row, keep in zip(y, scored, strict=True) if keep.any()
            )

        return rows((" / ".join(map(write_short, x)) for x in batch.input), map(answers, batch.target))


class WeightedGraph(Graph, axes=("scale", "density")):
    """A connected graph whose edges weigh numbers of a range of their own; harder along `scale` too.

    Row i holds the weights of the edges at vertex i, 0 where there is none.
    """

    low: float = Field(0.0, ge=0, le=LARGEST, description="smallest weight in training, below `high`")
    high: float = Field(2.0, ge=0, le=LARGEST, description="largest weight in training, above `low`")

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> "WeightedGraph":
        if not self.low < self.high:
            raise ValueError(f"low must be below high, got low = {self.low} and high = {self.high}")
        return self

    @override
    def sample(
        self,
        count: int,
        *,
        generator: Generator,
        length: int | None = None,
        density: int | float | None = None,
        scale: float = 1.0,
    ) -> Batch:
        check_scale(scale, self.low, self.high)
        edges = self.draw(count, length, density, generator)
        pairs = self.length * (self.length - 1) // 2
        numbers = draw_numbers(count, pairs, low=self.low, high=self.high, scale=scale, generator=generator)
        weights = numbers.new_zeros(count, self.length, self.length)
        row, column = torch.triu_indices(self.length, self.length, 1, device=numbers.device)
        # A weight of 0 would read as no edge.
        weights[:, row, column] = numbers.clamp(min=torch.finfo(numbers.dtype).tiny)
        return self.answered((weights + weights.mT) * edges)

    @override
    def redraw(self, batch: Batch, token: int, generator: Generator) -> Float[Tensor, "batch token feature"]:
        inputs = super().redraw(batch, token, generator)
        weights = torch.empty_like(inputs[:, token]).uniform_(self.low, self.high, generator=generator)
        inputs[:, token] *= weights
        return inputs


class Bfs(
    Graph, name="bfs", summary="fewest edges from the first vertex to every vertex of a connected graph"
):
    """How many edges lead from vertex 0 to every vertex: 0 1 0 / 1 0 1 / 0 1 0 gives 0 / 1 / 2."""

    @override
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex 1"]:
        return steps_from_first(graph).unsqueeze(-1)


class Connectivity(
    Graph, name="connectivity", summary="which pairs of vertices are connected, as 1 and 0", joined=False
):
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
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex vertex"]:
        return connected(graph)

    @override
    def rounds(self, graph: Float[Tensor, "batch vertex vertex"]) -> Int[Tensor, " batch"]:
        """Steps until every vertex has heard of all that it is connected to."""
        return longest_of_shortest(graph)

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        return torch.ones(self.length, self.length, dtype=torch.bool).triu(1)


class ShortestPath(
    WeightedGraph, name="shortest-path", summary="least total weight from the first vertex to every vertex"
):
    """The least total weight from vertex 0 to every vertex: 0 1 5 / 1 0 2 / 5 2 0 gives 0 / 1 / 3."""

    @override
    def solve(self, graph: Float[Tensor, "batch vertex vertex"]) -> Float[Tensor, "batch vertex 1"]:
        return distances_from_first(graph).unsqueeze(-1)


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
        return only_first(coordinates)
