"""Encodings that give every position a vector: P in R^{n x d_P}.

They enter as extra columns of the tokens (`embed` makes X | P, as in the standard Transformer of arXiv 2410.01686)
or as the only source of queries and keys (positional attention). A model's first linear map mixes the columns, so
that X | P is the sum E x + W p.
"""

import math
from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, Terms
from ordinate.errors import OrdinateError

DUMMY = "dummy"
"""Field of the scratch token that a model appends; it keeps the last row of P at every length."""


def rows(coordinates: Coordinates, capacity: int) -> Int[Tensor, " token"]:
    """Return the row of P of every token: its place in the sequence, and the last row for the dummy.

    >>> rows(Coordinates.of(number=range(3), dummy=range(1)), capacity=9)
    tensor([0, 1, 2, 8])
    """
    dummy = coordinates.fields.index(DUMMY) if DUMMY in coordinates.fields else -1
    places = [capacity - 1 if f == dummy else i for i, f in enumerate(coordinates.field)]
    longest = capacity - (1 if dummy >= 0 else 0)
    if len(places) > capacity:
        given = len(places) - (1 if dummy >= 0 else 0)
        raise OrdinateError(
            f"{given} tokens, but this model's position vectors were built for at most {longest}: "
            f"evaluate at lengths of at most {longest} tokens, or train on longer sequences"
        )
    return torch.tensor(places, dtype=torch.long)


def append(
    x: Float[Tensor, "batch token feature"], vectors: Float[Tensor, "*#batch token width"]
) -> Float[Tensor, "batch token wider"]:
    """X | P, with one P for all of a batch or one for each of its sequences."""
    return torch.cat([x, vectors.to(x).expand(len(x), -1, -1)], dim=-1)


class VectorEncoding(Encoding):
    """A vector for every position, which depends on nothing else: the kind that positional attention reads."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = self.extra_features = width

    @abstractmethod
    def vectors(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """P, a row a token."""

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """X | P."""
        return append(x, self.vectors(coordinates))


class TableEncoding(VectorEncoding):
    """A table of position vectors, fixed or trained."""

    table: Tensor

    def __init__(self, table: Float[Tensor, "capacity width"], *, trained: bool = False) -> None:
        super().__init__(table.shape[1])
        self.capacity = len(table)
        if trained:
            self.table = nn.Parameter(table)
        else:
            self.register_buffer("table", table, persistent=False)
        self._rows = Cache[Tensor]()

    def vectors(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """The table's rows."""
        device = self.table.device
        return self.table[
            self._rows((coordinates, device), lambda: rows(coordinates, self.capacity).to(device))
        ]


def one_hot(capacity: int) -> Float[Tensor, "capacity capacity"]:
    """P = I: every position its own axis."""
    return torch.eye(capacity)


def binary(capacity: int) -> Float[Tensor, "capacity bit"]:
    """ceil(log2 n) bits of the position, written as -1 and +1, highest bit first.

    >>> binary(4)
    tensor([[-1., -1.],
            [-1.,  1.],
            [ 1., -1.],
            [ 1.,  1.]])
    """
    bits = max(1, math.ceil(math.log2(capacity)))
    shifts = torch.arange(bits - 1, -1, -1)
    return 2.0 * ((torch.arange(capacity)[:, None] >> shifts) & 1).float() - 1.0


class OneHot(EncodingSettings):
    """P = I, the published choice.

    Example: `encoding = "one-hot"`.
    """

    name: ClassVar[str] = "one-hot"
    summary: ClassVar[str] = "P = I, every position its own axis (the published choice)"
    extrapolation: ClassVar[str] = "refused: positions beyond the built length have no vector"
    source: ClassVar[str] = "Back de Luca et al. 2024, arXiv 2410.01686"

    def build(self, spec: BuildSpec) -> VectorEncoding:
        """Identity matrix of the capacity."""
        return TableEncoding(one_hot(spec.capacity))


class Binary(EncodingSettings):
    """The bits of the position.

    Example: `encoding = "binary"`.
    """

    name: ClassVar[str] = "binary"
    summary: ClassVar[str] = "ceil(log2 n) bits of the position as -1 / +1"
    extrapolation: ClassVar[str] = "refused: positions beyond the built length have no vector"
    source: ClassVar[str] = "Back de Luca et al. 2024, arXiv 2410.01686"

    def build(self, spec: BuildSpec) -> VectorEncoding:
        """Bits of 0 .. capacity - 1."""
        return TableEncoding(binary(spec.capacity))


class Learned(EncodingSettings):
    """A trained vector a position, N(0, std^2) at the start, shared by all layers.

    Example: `encoding = {kind = "learned", width = 32}`.
    """

    name: ClassVar[str] = "learned"
    summary: ClassVar[str] = "a trained vector a position, shared by all layers"
    extrapolation: ClassVar[str] = "refused: positions beyond the built length were never trained"
    source: ClassVar[str] = "Gehring et al. 2017, arXiv 1705.03122"

    width: int = Field(16, ge=1, le=4096, description="columns appended to a token")
    std: float = Field(1.0, gt=0, description="standard deviation of the first values")

    @classmethod
    def for_contest(cls, terms: Terms) -> "Learned":
        """As many columns as others append."""
        return cls(width=terms.columns)

    def build(self, spec: BuildSpec) -> VectorEncoding:
        """Draw the first vectors from the global generator, as every module does."""
        return TableEncoding(torch.randn(spec.capacity, self.width) * self.std, trained=True)
