"""All-pairs distances on a path graph."""

import torch
from jaxtyping import Bool, Float
from pydantic import Field
from torch import Generator, Tensor
from torch.nn.functional import pad
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.adjacency import all_pairs_distances, path_adjacency
from ordinate.lab.tasks.batch import Batch, fields_of
from ordinate.lab.tasks.numbers import Numbers
from ordinate.lab.tasks.presentation import read_matrix, rows
from ordinate.lab.tasks.sampling import chances, check_length

LARGEST_GRAPH = 512


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
        return fields_of(vertex=length)

    @override
    def draw(
        self, count: int, length: int, scale: float, generator: Generator
    ) -> Float[Tensor, "batch token feature"]:
        self._check_length(length)
        numbers = self.numbers(count, length - 1, scale, generator)
        # A weight of 0 would read as no edge.
        weights = numbers.abs().clamp(min=1 if self.integers else torch.finfo(numbers.dtype).tiny)
        order = chances((count, length), generator).argsort(-1)
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

        return rows(map(matrix, batch.input), map(matrix, batch.target))

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
