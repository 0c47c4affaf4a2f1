"""Fixed memories as the weights of a one-layer Transformer without dot product (Theorem 3.1 of arXiv 2402.00522).

The stream has M + 1 columns: x_t, and one for every memory. Attention adds sum_k a_k w_k(s) x_{t-s} to the column of a
memory: W_O is the identity, head k has slope p_k and carries a_k (times sum_s w_k(s), where a softmax divides by it)
from column 0 to the memory's column. The last feed-forward layer reads y = f out of the columns.

Finite tables as ReLUs are index functions of adaptive memories, exact, and near where tokens are nearly right. A table
over tokens +-1 has one unit for every corner s of the cube,

    f(x) = c + sum_s (f(s) - c) relu(<s, x> - (n - 1)),    n tokens, c halfway between the ends of f:

at x = s the unit is 1, and at every other corner <s, x> is at most n - 2, so that it is 0, and stays so while the
errors of the tokens add up to less than 1. A table of one token is a line through its values, which may be any.
Tokens that the table does not depend on get no weights.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor
from typing_extensions import override

from ordinate.encodings import RpeLin, RpeLog, SlopeBias
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.architectures.memory import Ffn, MemoryTransformer, NoNorm
from ordinate.lab.architectures.memory_attention import Looking, MemoryAttention
from ordinate.papers.theory.biases import Bias, Log, need_mpmath
from ordinate.papers.theory.fits import FLOAT64, Fit


@dataclass(frozen=True)
class Readout(ABC):
    """A function of the memories, as a feed-forward layer: sum_i down_i relu(<up_i, columns> + bias_i)."""

    name: str
    linear: bool

    @abstractmethod
    def target(self, memories: Float[Tensor, "*batch memory"]) -> Float[Tensor, "*batch"]:
        """The function itself."""

    @abstractmethod
    def hinges(self, memories: int) -> tuple[list[float], list[float], list[float]]:
        """Slope, offset and height of each relu, of z = the sum of the memories."""


class Total(Readout):
    """y = sum_k x_{t-T_k}, as relu(z) - relu(-z)."""

    @override
    def target(self, memories: Float[Tensor, "*batch memory"]) -> Float[Tensor, "*batch"]:
        return memories.sum(-1)

    @override
    def hinges(self, memories: int) -> tuple[list[float], list[float], list[float]]:
        return [1.0, -1.0], [0.0, 0.0], [1.0, -1.0]


class Product(Readout):
    """y = prod_k x_{t-T_k} of tokens +-1: a zigzag of slope +-1 through the sums -M, 2 - M, ..., M."""

    @override
    def target(self, memories: Float[Tensor, "*batch memory"]) -> Float[Tensor, "*batch"]:
        return memories.prod(-1)

    @override
    def hinges(self, memories: int) -> tuple[list[float], list[float], list[float]]:
        """The first value as a step that is far below, then a turn at every sum.

        At z = -M all tokens are -1. A relu that has height h from z = -M - 2 to -M and is level from there is a
        constant h for all sums that occur.
        """
        first = float((-1) ** memories)
        turns = [float(2 * k - memories) for k in range(memories)]
        heights = [-first * (2.0 if k else 1.0) * (-1) ** k for k in range(memories)]
        start = [memories + 2.0, float(memories)]
        return [1.0] * (memories + 2), [*start, *(-turn for turn in turns)], [first / 2, -first / 2, *heights]


SUM = Total("sum", linear=True)
PRODUCT = Product("product", linear=False)
READOUTS: dict[str, Readout] = {readout.name: readout for readout in (SUM, PRODUCT)}


def find_readout(name: str) -> Readout:
    """Return the readout of this name.

    >>> find_readout("sum") is SUM
    True
    """
    if name not in READOUTS:
        raise OrdinateError(f"there is no readout {name!r}: {nearest(name, READOUTS)}")
    return READOUTS[name]


class Weights(NamedTuple):
    """All numbers of the model."""

    slopes: Float[ndarray, " head"]
    values: Float[ndarray, "head memory"]
    """What a head carries from x to the column of a memory."""
    up: Float[ndarray, "hidden column"]
    up_bias: Float[ndarray, " hidden"]
    down: Float[ndarray, "1 hidden"]


def check_held(found: Fit) -> None:
    """Refuse coefficients that float64 cannot hold, and say what they take."""
    if not found.held_by(FLOAT64):
        raise OrdinateError(
            f"float64 cannot hold the coefficients of {len(found.slopes)} {found.bias.name} heads with slopes "
            f"{found.slopes[0]:g} to {found.slopes[-1]:g}: they reach {found.largest:.2g} and take "
            f"{found.digits:.2f} digits, float64 has {FLOAT64:.2f}"
        )


def weights_of(found: Fit, readout: Readout, *, normalised: bool) -> Weights:
    """A fit as weights in float64; refused when it was made for more digits and float64 cannot hold its coefficients.

    A softmax divides by the weights' sum over the lags there are. Values are scaled by the sum over the lags of the
    fit's length, so that the last token of such a sequence is right.
    """
    check_held(found)
    mp = need_mpmath()
    lags = found.bias.lags(found.length)
    sums = [mp.fsum(found.bias.weight(p, lag) for lag in lags) if normalised else 1 for p in found.slopes]
    values = np.array(
        [[float(a * total) for a, total in zip(row, sums, strict=True)] for row in found.coefficients]
    ).T
    memories = len(found.coefficients)
    slopes, offsets, heights = (np.array(part) for part in readout.hinges(memories))
    up = np.zeros((len(slopes), memories + 1))
    up[:, 1:] = slopes[:, None]
    return Weights(np.array(found.slopes), values, up, offsets, heights[None])


def encoding_of(bias: Bias, slopes: Float[Tensor, "layer head"]) -> SlopeBias:
    """The encoding that adds this bias to scores."""
    kind = RpeLog(shift=float(bias.shift)) if isinstance(bias, Log) else RpeLin()
    return kind.with_slopes(slopes)


def build_model(bias: Bias, weights: Weights, *, normalised: bool) -> MemoryTransformer:
    """The one-layer Transformer of these weights, in float64."""
    heads, memories = weights.values.shape
    width = memories + 1
    encoding = encoding_of(bias, torch.from_numpy(weights.slopes)[None])
    attention = MemoryAttention(width, heads, 0, Looking(), normalised=normalised)
    readout = Ffn(width, len(weights.up), 1)
    model = MemoryTransformer(1, [attention], encoding, [None], readout, NoNorm()).double()
    with torch.no_grad():
        model.encode.weight.copy_(torch.eye(width, 1))
        model.encode.bias.zero_()
        attention.w_o.copy_(torch.eye(width))
        attention.w_v.zero_()
        attention.w_v[:, 1:, 0] = torch.from_numpy(weights.values)
        readout.up.weight.copy_(torch.from_numpy(weights.up))
        readout.up.bias.copy_(torch.from_numpy(weights.up_bias))
        readout.down.weight.copy_(torch.from_numpy(weights.down))
    return model.eval()


SIGNS = (-1.0, 1.0)
MOST_UNITS = 4096
"""Corners of the largest table."""


class Units(NamedTuple):
    """sum_i down_i relu(<up_i, x> + bias_i), and how far it moves when tokens do."""

    up: Float[ndarray, "unit token"]
    bias: Float[ndarray, " unit"]
    down: Float[ndarray, " unit"]
    read: tuple[int, ...]
    """Tokens that it depends on."""
    steepness: float
    """It moves by at most this times the sum of the tokens' errors, while that is below 1."""

    def at(self, x: Float[ndarray, "*row token"]) -> Float[ndarray, "*row"]:
        """Its value.

        >>> table_units(SIGNS, np.array([2.0, 1.0])).at(np.array([[-1.0], [1.0]])).tolist()
        [2.0, 1.0]
        """
        return np.asarray(np.maximum(x @ self.up.T + self.bias, 0) @ self.down)


def table_units(values: Sequence[float], table: Float[ndarray, "..."]) -> Units:
    """Units of a table with an axis for every token, each in the order of the values a token can have.

    >>> units = table_units(SIGNS, np.array([[1.0, 2.0], [3.0, 5.0]]))
    >>> units.at(np.array([[-1.0, 1.0], [1.0, 1.0]])).tolist(), units.steepness
    ([2.0, 5.0], 2.0)
    """
    read = tuple(axis for axis in range(table.ndim) if np.ptp(table, axis=axis).any())
    reduced = table[tuple(slice(None) if axis in read else 0 for axis in range(table.ndim))]
    if len(read) <= 1:
        slopes, offsets, heights, steepness = _line(values, reduced.ravel())
    elif tuple(values) == SIGNS:
        slopes, offsets, heights, steepness = _corners(reduced)
    else:
        raise OrdinateError(
            f"a table of {len(read)} tokens is built of tokens -1 and 1 alone: write tokens=signs, "
            "or an index function of one token"
        )
    up = np.zeros((len(offsets), table.ndim))
    up[:, list(read)] = slopes
    return Units(up, offsets, heights, read, steepness)


def _line(
    values: Sequence[float], table: Float[ndarray, " value"]
) -> tuple[ndarray, ndarray, ndarray, float]:
    """A constant, and a turn at every value but the last."""
    if len(table) == 1:
        return np.zeros((1, 0)), np.ones(1), table, 0.0
    slopes = np.diff(table) / np.diff(values)
    turns = np.diff(slopes, prepend=0.0)
    up = np.concatenate([[0.0], np.ones(len(turns))])[:, None]
    offsets = np.concatenate([[1.0], -np.array(values[:-1])])
    return up, offsets, np.concatenate([table[:1], turns]), float(np.abs(slopes).max())


def _corners(table: Float[ndarray, "..."]) -> tuple[ndarray, ndarray, ndarray, float]:
    """A constant, and a unit for every corner."""
    if table.size > MOST_UNITS:
        raise OrdinateError(
            f"a table of {table.ndim} tokens takes {table.size} units of an FFN: take at most {MOST_UNITS}"
        )
    centre = (float(table.max()) + float(table.min())) / 2
    corners = np.array(list(product(SIGNS, repeat=table.ndim)))
    up = np.concatenate([np.zeros((1, table.ndim)), corners])
    offsets = np.concatenate([[1.0], np.full(len(corners), 1.0 - table.ndim)])
    heights = np.concatenate([[centre], table.ravel() - centre])
    return up, offsets, heights, float(np.abs(heights[1:]).max())
