"""Fixed memories as the weights of a one-layer Transformer without dot product (Theorem 3.1 of arXiv 2402.00522).

The stream has M + 1 columns: x_t, and one for every memory. Attention adds sum_k a_k w_k(s) x_{t-s} to the column of a
memory: W_O is the identity, head k has slope p_k and carries a_k (times sum_s w_k(s), where a softmax divides by it)
from column 0 to the memory's column. The last feed-forward layer reads y = f out of the columns.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from ordinate.attention.memory import Looking, MemoryAttention
from ordinate.coordinates import Coordinates
from ordinate.encodings import RpeLin, RpeLog, SlopeBias
from ordinate.errors import OrdinateError, nearest
from ordinate.models.memory import Ffn, MemoryTransformer, NoNorm
from ordinate.papers.theory.biases import Bias, Log, need_mpmath
from ordinate.papers.theory.fits import FLOAT64, Fit

LISTED = 16
"""Tokens up to which all inputs of +-1 are listed."""
CHUNK = 4096
"""Inputs that go through a model at once."""


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

    def target(self, memories: Float[Tensor, "*batch memory"]) -> Float[Tensor, "*batch"]:
        """The sum."""
        return memories.sum(-1)

    def hinges(self, memories: int) -> tuple[list[float], list[float], list[float]]:
        """Two."""
        return [1.0, -1.0], [0.0, 0.0], [1.0, -1.0]


class Product(Readout):
    """y = prod_k x_{t-T_k} of tokens +-1: a zigzag of slope +-1 through the sums -M, 2 - M, ..., M."""

    def target(self, memories: Float[Tensor, "*batch memory"]) -> Float[Tensor, "*batch"]:
        """The product."""
        return memories.prod(-1)

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


@dataclass(frozen=True)
class Evaluated:
    """A model in the sup norm over inputs of +-1, at the last token of a sequence."""

    memories: tuple[float, ...]
    """The largest error at each memory."""
    output: float
    """The largest error of the output, or a bound of it."""
    exact: bool
    """Whether an input reaches the output's error, beyond 16 tokens the worst but for rounding; else it is a bound."""
    inputs: int
    """Inputs that went through the model."""


@torch.no_grad()
def evaluate_model(model: MemoryTransformer, lags: Sequence[int], readout: Readout, length: int) -> Evaluated:
    """The sup norm of a model minus its target, measured in the model's own arithmetic.

    Up to 16 tokens all 2^n inputs go through the model. Beyond, since attention is linear, the input that is worst for
    a memory has the signs of the memory's response to single tokens, up to rounding; and both readouts change by at
    most the change of the memories' sum, whose worst input is found in the same way.
    """
    last = torch.eye(length, dtype=torch.float64)
    targets = torch.stack([last[length - 1 - lag] for lag in lags], dim=1)
    if length <= LISTED:
        bits = torch.arange(2**length)[:, None] >> torch.arange(length)
        inputs = (bits % 2 * 2 - 1).double()
        memories, outputs = run_model(model, inputs)
        wanted = inputs @ targets
        found = (memories - wanted).abs().amax(0)
        largest = float((outputs - readout.target(wanted)).abs().max())
        return Evaluated(tuple(found.tolist()), largest, True, len(inputs))
    response = run_model(model, last)[0] - targets
    signs = torch.sign(torch.cat([response, response.sum(1, keepdim=True)], dim=1)).T
    worst = torch.where(signs == 0, 1.0, signs)
    errors = run_model(model, worst)[0] - worst @ targets
    found = errors[: len(lags)].diagonal().abs()
    return Evaluated(
        tuple(found.tolist()), float(errors[-1].sum().abs()), readout.linear, len(last) + len(worst)
    )


def run_model(
    model: MemoryTransformer, inputs: Float[Tensor, "input token"], at_once: int = CHUNK
) -> tuple[Float[Tensor, "input column"], Float[Tensor, " input"]]:
    """The columns behind x_t in front of the readout, the memories first, and the output, both at the last token."""
    coordinates = Coordinates.of(sequence=range(inputs.shape[1]))
    columns: list[Tensor] = []
    handle = model.readout.register_forward_pre_hook(lambda _, given: columns.append(given[0][:, -1, 1:]))
    try:
        outputs = [model(chunk[..., None], coordinates)[:, -1, 0] for chunk in inputs.split(at_once)]
    finally:
        handle.remove()
    return torch.cat(columns), torch.cat(outputs)
