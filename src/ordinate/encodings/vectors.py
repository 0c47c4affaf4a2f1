"""Encodings that append columns to the tokens: a vector for every position, P in R^{n x d_P}.

They enter as extra columns (`embed` makes X | P, as in the standard Transformer of arXiv 2410.01686) or as the only
source of queries and keys (positional attention). A model's first linear map mixes the columns, so that X | P is the
sum E x + W p.
"""

import math
from abc import abstractmethod

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, Encoding
from ordinate.encodings.helpers import Cache
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

    def has_columns(self, width: int) -> None:
        """Say how wide the vectors are."""
        self.width = self.extra_features = width

    @abstractmethod
    def vectors(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """P, a row a token."""

    @override
    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        return append(x, self.vectors(coordinates))


class TableEncoding(VectorEncoding):
    """The rows of a table that ends at the longest trained sequence."""

    def use_table(self, table: Float[Tensor, "capacity width"]) -> None:
        """Read vectors from this table; it is trained where it is a parameter."""
        self.has_columns(table.shape[1])
        self.table: Tensor
        if isinstance(table, nn.Parameter):
            self.table = table
        else:
            self.register_buffer("table", table, persistent=False)
        self._rows = Cache[Tensor]()

    @override
    def vectors(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        device, capacity = self.table.device, len(self.table)
        return self.table[self._rows((coordinates, device), lambda: rows(coordinates, capacity).to(device))]


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


class OneHot(
    TableEncoding,
    name="one-hot",
    summary="P = I, every position its own axis (the published choice)",
    extrapolation="refused: positions beyond the built length have no vector",
    source="Back de Luca et al. 2024, arXiv 2410.01686",
):
    """P = I, the published choice.

    Example: `encoding = "one-hot"`.
    """

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.use_table(one_hot(spec.capacity))


class Binary(
    TableEncoding,
    name="binary",
    summary="ceil(log2 n) bits of the position as -1 / +1",
    extrapolation="refused: positions beyond the built length have no vector",
    source="Back de Luca et al. 2024, arXiv 2410.01686",
):
    """The bits of the position.

    Example: `encoding = "binary"`.
    """

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.use_table(binary(spec.capacity))


class Learned(
    TableEncoding,
    name="learned",
    summary="a trained vector a position, shared by all layers",
    extrapolation="refused: positions beyond the built length were never trained",
    source="Gehring et al. 2017, arXiv 1705.03122",
):
    """A trained vector a position, N(0, std^2) at the start, shared by all layers.

    Example: `encoding = {kind = "learned", width = 32}`.
    """

    width: int = Field(default=16, ge=1, le=4096, description="columns appended to a token")
    std: float = Field(default=1.0, gt=0, description="standard deviation of the first values")

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.use_table(nn.Parameter(torch.randn(spec.capacity, self.width) * self.std))


def waves(position: Int[Tensor, " token"], width: int) -> Float[Tensor, "token width"]:
    """P[t, 2i] = sin(t / 10000^(2i / width)), P[t, 2i + 1] = cos of the same; float64, exact at long lengths.

    >>> waves(torch.tensor([0, 1]), 2).float()
    tensor([[0.0000, 1.0000],
            [0.8415, 0.5403]])
    """
    frequency = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = position[:, None] * frequency.to(position.device)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]


class Sinusoidal(
    VectorEncoding,
    name="sinusoidal",
    summary="sines and cosines of geometric frequencies, base 10000",
    extrapolation="defined: by the formula; refused only in models that append a dummy token",
    source="Vaswani et al. 2017, arXiv 1706.03762",
):
    """Sines and cosines of geometric frequencies. The published code of arXiv 2410.01686 uses width 2.

    The row of a token is its place in the sequence; a dummy keeps the last row of the trained length.

    Example: `encoding = {kind = "sinusoidal", width = 16}`.
    """

    width: int = Field(default=2, ge=1, le=4096, description="columns appended to a token")

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.has_columns(self.width)
        self.capacity = spec.capacity
        self._vectors = Cache[Tensor]()

    @override
    def vectors(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """From the formula. With a dummy, rows end before the dummy's own: longer sequences are refused."""
        longest = self.capacity if DUMMY in coordinates.fields else max(self.capacity, len(coordinates))
        return self._vectors(
            (coordinates, self.device, self.dtype),
            lambda: waves(rows(coordinates, longest), self.width).to(self.device, self.dtype),
        )


def drawn(tokens: int, furthest: int) -> Int[Tensor, " token"]:
    """`tokens` different positions below `furthest`, in order; from the global generator of the CPU."""
    return torch.randperm(furthest, device="cpu")[:tokens].sort().values


def spread(tokens: int, furthest: int) -> Int[Tensor, " token"]:
    """Where `drawn` puts each token on average, rounded down: (i + 1) (furthest + 1) / (tokens + 1) - 1.

    >>> spread(3, 2047).tolist()
    [511, 1023, 1535]
    """
    return (torch.arange(tokens) + 1) * (furthest + 1) // (tokens + 1) - 1


class Randomized(
    Encoding,
    name="randomized",
    summary="sinusoidal rows at sorted random positions, new ones for every batch",
    extrapolation="defined: up to `furthest` tokens, all of whose positions are trained; refused above",
    source="Ruoss et al. 2023, arXiv 2305.16843",
):
    """P[i] = waves of r_i, where r is a sorted random subset of 0 .. furthest - 1, drawn for each batch.

    Lengths never trained then use positions that were. Outside training mode nothing is drawn: token i of n stands at
    its average place, floor((i + 1) (furthest + 1) / (n + 1)) - 1. (The paper draws there too.)

    Example: `encoding = {kind = "randomized", furthest = 2048, width = 16}`.
    """

    random = True

    furthest: int = Field(
        default=2048, ge=1, le=10**6, description="positions to draw from: the longest sequence"
    )
    width: int = Field(default=16, ge=1, le=4096, description="columns appended to a token")

    @override
    def setup(self, spec: BuildSpec) -> None:
        self.check_length(spec.capacity)
        self.extra_features = self.width
        self.table: Tensor
        self.register_buffer(
            "table", waves(torch.arange(self.furthest), self.width).float(), persistent=False
        )
        self._spread = Cache[Tensor]()

    def check_length(self, tokens: int) -> None:
        """Refuse sequences with more tokens than positions."""
        if tokens > self.furthest:
            raise OrdinateError(
                f"{tokens} tokens, but randomized positions end at {self.furthest}: "
                f"write model.encoding.furthest = {tokens} or more and train again, or evaluate shorter sequences"
            )

    def positions(self, tokens: int) -> Int[Tensor, " token"]:
        """The row of every token, in this mode."""
        self.check_length(tokens)
        device = self.table.device
        if self.training:
            return drawn(tokens, self.furthest).to(device)
        return self._spread((tokens, device), lambda: spread(tokens, self.furthest).to(device))

    @override
    def embed(
        self, x: Float[Tensor, "batch token feature"], coordinates: Coordinates
    ) -> Float[Tensor, "batch token wider"]:
        return append(x, self.table[self.positions(len(coordinates))])
