"""All-pairs distances on a path graph."""

import re
from functools import lru_cache

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Generator, Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.numbers.base import Numbers, read_numbers
from ordinate.lab.tasks.numbers.sampling import check_length
from ordinate.lab.tasks.task import Batch

LARGEST_GRAPH = 512


def path_adjacency(
    weights: Float[Tensor, "batch edge"], order: Int[Tensor, "batch vertex"]
) -> Float[Tensor, "batch vertex vertex"]:
    """A[order_k, order_{k+1}] = A[order_{k+1}, order_k] = weight_k, zero elsewhere.

    >>> path_adjacency(torch.tensor([[5.0, 7.0]]), torch.tensor([[1, 0, 2]])).tolist()
    [[[0.0, 5.0, 7.0], [5.0, 0.0, 0.0], [7.0, 0.0, 0.0]]]
    """
    count, size = order.shape
    adjacency = weights.new_zeros(count, size, size)
    row = torch.arange(count, device=order.device).unsqueeze(1)
    tail, head = order[:, :-1], order[:, 1:]
    adjacency[row, tail, head] = weights
    adjacency[row, head, tail] = weights
    return adjacency


def all_pairs_distances(
    adjacency: Float[Tensor, "batch vertex vertex"],
) -> Float[Tensor, "batch vertex vertex"]:
    """D_ij = the least total weight of a walk from i to j (Floyd-Warshall); infinite where there is none.

    Weights are positive and 0 means no edge. Vertex k is let in after vertices 0, ..., k - 1:
    D_ij <- min(D_ij, D_ik + D_kj).

    >>> all_pairs_distances(torch.tensor([[[0.0, 5.0, 7.0], [5.0, 0.0, 0.0], [7.0, 0.0, 0.0]]])).tolist()
    [[[0.0, 5.0, 7.0], [5.0, 0.0, 12.0], [7.0, 12.0, 0.0]]]
    """
    distances = adjacency.masked_fill(adjacency == 0, torch.inf)
    distances.diagonal(dim1=-2, dim2=-1).zero_()
    for k in range(adjacency.shape[-1]):
        distances = torch.minimum(distances, distances[:, :, k : k + 1] + distances[:, k : k + 1, :])
    return distances


class Path(
    Numbers, name="path", summary="distances between all vertices of a path named at random", axes=("scale",)
):
    """The distances between all vertices of a path whose vertices are named at random.

    Token i is vertex i: its features are row i of the weighted adjacency matrix (0 where there is no edge),
    its outputs row i of the distance matrix. The edges weigh the absolute values of the numbers drawn.
    Distances are symmetric, so only those above the diagonal are scored. The path 1 - 0 - 2 with weights 5
    and 7: 0 5 7 / 5 0 0 / 7 0 0 gives 0 5 7 / 5 0 12 / 7 12 0.

    A token has `length` features and outputs, so shorter paths are padded with zeros on the right, and longer
    ones do not fit: `length` is no axis of this task.
    """

    length: int = Field(
        8, ge=2, le=LARGEST_GRAPH, description=f"most vertices in training, 2 to {LARGEST_GRAPH}"
    )

    @property
    @override
    def features(self) -> int:
        return self.length

    @property
    @override
    def outputs(self) -> int:
        return self.length

    @override
    def lengths(self) -> tuple[int, ...]:
        """Lengths seen in training, shortest first; a path has at least one edge."""
        return tuple(range(2, self.length + 1)) if self.variable else (self.length,)

    @override
    def coordinates(self, length: int) -> Coordinates:
        """Vertex k has ordinate k, which says nothing of its place on the path."""
        self._check_length(length)
        return vertex_coordinates(length)

    @override
    def draw(
        self, count: int, length: int, scale: float, generator: Generator
    ) -> Float[Tensor, "batch token feature"]:
        self._check_length(length)
        numbers = self.numbers(count, length - 1, scale, generator)
        # A weight of 0 would read as no edge.
        weights = numbers.abs().clamp(min=1 if self.integers else torch.finfo(numbers.dtype).tiny)
        order = torch.rand(count, length, generator=generator, device=generator.device).argsort(-1)
        return pad(path_adjacency(weights, order), (0, self.length - length))

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token feature"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token out"]:
        """Return the distance matrices, padded as the input is."""
        length, width = inputs.shape[1:]
        return pad(all_pairs_distances(inputs[..., :length]), (0, width - length))

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        tokens = len(coordinates)
        return torch.ones(tokens, self.outputs, dtype=torch.bool).triu(1) & (
            torch.arange(self.outputs) < tokens
        )

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:

        def matrix(rows: Float[Tensor, "token feature"]) -> str:
            return " / ".join(self.write(row[: len(rows)]) for row in rows)

        return [
            {"input": matrix(x), "target": matrix(y)} for x, y in zip(batch.input, batch.target, strict=True)
        ]

    @override
    def parse(self, text: str) -> Batch:
        matrix = read_matrix(text)
        self._check_length(len(matrix))
        inputs = pad(matrix, (0, self.length - len(matrix)))[None]
        return Batch(inputs, self.reference(inputs), self.coordinates(len(matrix)))

    def _check_length(self, length: int) -> None:
        check_length(length, shortest=2, longest=LARGEST_GRAPH)
        if length > self.length:
            raise OrdinateError(
                f"a path of {length} vertices needs tokens of {length} features, these have {self.length}: "
                f"make the task with length={length}"
            )


def read_matrix(text: str) -> Float[Tensor, "vertex vertex"]:
    """Read an adjacency matrix, rows separated by strokes: square, symmetric, zero on the diagonal, not negative.

    Semicolons and ends of lines separate rows as well.

    >>> read_matrix("0 2 / 2 0").tolist() == read_matrix("0 2; 2 0").tolist()
    True
    >>> read_matrix("0 1 1 / 1 0 1")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: an adjacency matrix is square, got 2 rows, one of 3 numbers: write 0 1 / 1 0
    """
    rows = [read_numbers(row) for row in re.split(r"[/;\n]", text.strip())]
    for row in rows:
        if len(row) != len(rows):
            raise OrdinateError(
                f"an adjacency matrix is square, got {len(rows)} rows, one of {len(row)} numbers: write 0 1 / 1 0"
            )
    matrix = torch.tensor(rows)
    if not torch.equal(matrix, matrix.T) or matrix.diagonal().any() or (matrix < 0).any():
        raise OrdinateError(
            "an undirected graph has a symmetric matrix with zeros on the diagonal and no negative weight: "
            "write row j of column i as row i of column j"
        )
    return matrix


@lru_cache(maxsize=256)
def vertex_coordinates(length: int) -> Coordinates:
    """Return the coordinates of one field, `vertex`, with ordinates 0 to length - 1."""
    return Coordinates.of(vertex=range(length))
