"""Encodings that give every position a vector: P in R^{n x d_P}.

They enter as extra columns of the tokens (`embed` makes X | P, as in the standard Transformer of arXiv 2410.01686)
or as the only source of queries and keys (positional attention).
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.positions.encodings.encoding import Encoding, EncodingSettings

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
            f"evaluate at length <= {longest} or train with a larger task.length"
        )
    return torch.tensor(places, dtype=torch.long)


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


def sinusoidal(capacity: int, width: int) -> Float[Tensor, "capacity width"]:
    """P[t, 2i] = sin(t / 10000^(2i / width)), P[t, 2i + 1] = cos of the same (Vaswani et al. 2017)."""
    angle = torch.arange(capacity)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]


class VectorEncoding(Encoding):
    """A table of position vectors, fixed or trained."""

    table: Tensor

    def __init__(self, table: Float[Tensor, "capacity width"], *, trained: bool = False) -> None:
        super().__init__()
        self.capacity, self.width = table.shape
        self.extra_features = self.width
        if trained:
            self.table = nn.Parameter(table)
        else:
            self.register_buffer("table", table, persistent=False)
        self._rows: dict[Coordinates, Tensor] = {}

    def vectors(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """P, a row a token."""
        if coordinates not in self._rows:
            self._rows[coordinates] = rows(coordinates, self.capacity).to(self.table.device)
        return self.table[self._rows[coordinates]]

    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        """X | P."""
        return torch.cat([x, self.vectors(coordinates).to(x.dtype).expand(len(x), -1, -1)], dim=-1)


class OneHot(EncodingSettings):
    """P = I, the published choice."""

    name: ClassVar[str] = "one-hot"
    summary: ClassVar[str] = "P = I, every position its own axis (the published choice)"
    beyond: ClassVar[str] = "refused: positions beyond the built length have no vector"

    def build(self, capacity: int) -> VectorEncoding:
        """Identity matrix of the capacity."""
        return VectorEncoding(one_hot(capacity))


class Binary(EncodingSettings):
    """The bits of the position."""

    name: ClassVar[str] = "binary"
    summary: ClassVar[str] = "ceil(log2 n) bits of the position as -1 / +1"
    beyond: ClassVar[str] = "refused: positions beyond the built length have no vector"

    def build(self, capacity: int) -> VectorEncoding:
        """Bits of 0 .. capacity - 1."""
        return VectorEncoding(binary(capacity))


class Sinusoidal(EncodingSettings):
    """Sines and cosines of geometric frequencies. The published code uses width 2."""

    name: ClassVar[str] = "sinusoidal"
    summary: ClassVar[str] = "sines and cosines of geometric frequencies, base 10000"
    beyond: ClassVar[str] = "refused: positions beyond the built length have no vector"

    width: int = Field(2, ge=1, le=4096)

    def build(self, capacity: int) -> VectorEncoding:
        """Rows 0 .. capacity - 1 of the wave table."""
        return VectorEncoding(sinusoidal(capacity, self.width))


class Learned(EncodingSettings):
    """A trained vector a position, N(0, std^2) at the start, shared by all layers."""

    name: ClassVar[str] = "learned"
    summary: ClassVar[str] = "a trained vector a position, shared by all layers"
    beyond: ClassVar[str] = "refused: positions beyond the built length were never trained"

    width: int = Field(16, ge=1, le=4096)
    std: float = Field(1.0, gt=0)

    def build(self, capacity: int) -> VectorEncoding:
        """Draw the first vectors from the global generator, as every module does."""
        return VectorEncoding(torch.randn(capacity, self.width) * self.std, trained=True)
