"""Adaptive memories as the weights of a Transformer (Theorems 4.1 and 4.4, Proposition 4.3 of arXiv 2402.00522).

    y_t = f(x_t, x_{t-t_1}, .., x_{t-t_M}),    t_i = g_i(x_t, x_{t-t_1}, ..)    K of the memories nested

The stream has D = 2 M + 2 columns: x_t, the memories, the indices t_1 .. t_M (log: their logarithms), and a constant.
Layer 1 does not attend; its feed-forward layer writes the first index and the constant. From then on attention fetches
the memory at the index that is there, and the feed-forward layer behind it, rounded, writes the next: one memory a
layer, all that are not nested together in the last, whose feed-forward layer is f. Scores

    <W_Q x_t, W_K x_{t-s}> - p s = p t_i - p s          W_Q reads p t_i, W_K the constant as 1
    p (<w, x_t> - s)                                    the same by TMX, w reads t_i

need attention without the sum of a softmax. L = K + 1 + 1{M > K} layers; up to M + 1 of them, one memory each, are
Proposition 4.5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.lab.architectures.memory import Ffn, MemoryTransformer, NoNorm
from ordinate.lab.architectures.memory_attention import DotProducts, Looking, MemoryAttention, TimeMinusToken
from ordinate.lab.architectures.precision import LogsOfWholeNumbers, Precision, WholeNumbers
from ordinate.lab.tasks.memories import AdaptiveMemory
from ordinate.lab.tasks.memories.readouts import Parity, Sum
from ordinate.papers.theory.biases import Bias, Log
from ordinate.papers.theory.construct import (
    PRODUCT,
    SIGNS,
    SUM,
    Readout,
    Units,
    check_held,
    encoding_of,
    table_units,
)
from ordinate.papers.theory.fetch import Indexed, enough, indexed
from ordinate.papers.theory.fits import FLOAT64, Fit
from ordinate.papers.theory.rates import head_split, required_depth
from ordinate.papers.theory.slopes import check_heads, told_apart

IDLE_SLOPE = 1.0
"""Slope of heads that do nothing, such as those of the first layer."""


@dataclass(frozen=True)
class Plan:
    """What is computed where: layers, heads and index functions of a target."""

    task: AdaptiveMemory
    bias: Bias
    groups: tuple[tuple[int, ...], ...]
    """Memories that are fetched together, from layer 2 on; numbers from 1."""
    total_heads: int
    """H, of every layer."""
    heads: tuple[int, ...]
    """Of each memory, in its layer; the others of the layer are idle."""
    lags: tuple[tuple[int, ...], ...]
    """All that each memory's index can be."""
    units: tuple[Units, ...]
    """The index functions as units of a feed-forward layer: their values, or for log the logarithms of them."""
    readout: Readout
    reads: tuple[float, ...]
    """The readout is a function of one number: x_t and the memories, weighted by these and added up."""

    @property
    def layers(self) -> int:
        """L."""
        return 1 + len(self.groups)

    @property
    def width(self) -> int:
        """D = (M + 1)(d + 1), d = 1."""
        return 2 * self.task.memories + 2

    @property
    def furthest(self) -> tuple[int, ...]:
        """T of each memory."""
        return tuple(map(max, self.lags))

    def seen(self, length: int) -> tuple[Indexed, ...]:
        """Where each memory's tokens are seen in a sequence of this length."""
        return tuple(indexed(self.bias, lags, length) for lags in self.lags)

    def tolerances(self) -> tuple[float, ...]:
        """How large the error of each memory may be for all indices behind it to round to the right place.

        An index is safe while steepness x (sum of the errors of the memories it reads) is below what rounding takes
        away, and their sum below 1: the side condition of the theorem.
        """
        allowed = [float("inf")] * self.task.memories
        for units, furthest in zip(self.units, self.furthest, strict=True):
            read = [token for token in units.read if token > 0]
            ends = self.bias.distances(np.array([furthest, furthest + 0.5]))
            for token in read:
                most = min(1.0, float(np.diff(ends)[0]) / units.steepness) / len(read)
                allowed[token - 1] = min(allowed[token - 1], most)
        return tuple(allowed)


def plan_layers(task: AdaptiveMemory, bias: Bias, heads: int, layers: int | None = None) -> Plan:
    """The construction of a target; without `layers` it has those of Theorem 4.4.

    >>> from ordinate.lab.tasks.memories import WORKED_EXAMPLE
    >>> from ordinate.papers.theory.biases import LIN
    >>> plan = plan_layers(WORKED_EXAMPLE, LIN, 8)
    >>> plan.layers, plan.groups, plan.lags
    (3, ((1,), (2,)), ((1, 2), (1, 2)))
    """
    values, memories = task.tokens.values, task.memories
    if not values:
        raise OrdinateError(f"{task.tokens.name} tokens have no table of values: write tokens=signs")
    readout, reads = _readout_of(task)
    depth = required_depth(task.nesting, memories)
    layers = depth if layers is None else layers
    if not depth <= layers <= memories + 1:
        what = f"{memories} memories of which {task.nesting} are nested"
        raise OrdinateError(
            f"{layers} layers are too few for {what}: Theorem 4.4 has {depth}, write --layers {depth}"
            if layers < depth
            else f"{layers} layers are more than {what} can use: write at most --layers {memories + 1}"
        )
    alone = layers - 2
    groups = *((number,) for number in range(1, alone + 1)), tuple(range(alone + 1, memories + 1))
    tables = [_table(task, number) for number in range(1, memories + 1)]
    lags = tuple(tuple(sorted(set(table.ravel().tolist()))) for table in tables)
    furthest = [max(one) for one in lags]
    bias.check_lags([lag for one in lags for lag in one], repeated=True)
    split = head_split(heads, [furthest[number - 1] for number in groups[-1]], bias)
    units = tuple(
        table_units(values, bias.distances(table.ravel().astype(np.float64)).reshape(table.shape))
        for table in tables
    )
    return Plan(task, bias, groups, heads, (heads,) * alone + split, lags, units, readout, reads)


def told_apart_heads(plan: Plan, length: int) -> Plan:
    """The same with heads idle where float64 tells fewer apart than a memory has; refused where all have too many.

    >>> from ordinate.lab.tasks.memories import AdaptiveMemory
    >>> from ordinate.papers.theory.biases import LIN
    >>> plan = plan_layers(AdaptiveMemory(nesting=1, memories=3), LIN, 12)
    >>> plan.heads, told_apart_heads(plan, 8).heads
    ((12, 6, 6), (9, 6, 6))
    """
    seen = plan.seen(length)
    most = [told_apart(one, len(one.places)) for one in seen]
    if all(heads > apart for heads, apart in zip(plan.heads, most, strict=True)):
        check_heads(seen[-1], plan.heads[-1], len(seen[-1].places))
    return replace(plan, heads=tuple(map(min, plan.heads, most)))


def check_errors(plan: Plan, fits: Sequence[Fit], error: float, slopes: str) -> None:
    """Refuse fits that float64 cannot hold, that are worse than an error, or that would move an index."""
    for number, (found, allowed) in enumerate(zip(fits, plan.tolerances(), strict=True), 1):
        check_held(found)
        if found.cost(FLOAT64) >= min(error, allowed):
            assert isinstance(found.bias, Indexed)
            reason = "the indices behind it round to the right place below" if allowed < error else "not"
            raise OrdinateError(
                f"{len(found.slopes)} {plan.bias.name} heads with {slopes} slopes fetch memory {number}, lags up to "
                f"{found.bias.furthest}, to within {found.cost(FLOAT64):.3g} in float64, {reason} "
                f"{min(error, allowed):.3g}: {enough(found.bias, min(error, allowed))}"
            )


@torch.no_grad()
def build_adaptive(plan: Plan, fits: Sequence[Fit], *, tmx: bool = False) -> MemoryTransformer:
    """The Transformer of these fits, one for each memory, in float64."""
    width, heads, memories = plan.width, plan.total_heads, plan.task.memories
    encoding = encoding_of(plan.bias, _slopes(plan, fits))
    attentions = []
    for layer in range(plan.layers):
        looking: Looking = TimeMinusToken(width, heads) if tmx else DotProducts(width, heads, width)
        attention = MemoryAttention(width, heads, layer, looking, normalised=False).double()
        for parameter in attention.parameters():
            parameter.zero_()
        attentions.append(attention)
    for layer, group in enumerate(plan.groups, 1):
        attention, served = attentions[layer], 0
        attention.w_o.copy_(torch.eye(width))
        for number in group:
            found, index = fits[number - 1], memories + number
            own = slice(served, served + len(found.slopes))
            served = own.stop
            assert isinstance(found.bias, Indexed)
            attention.w_v[own, number, 0] = torch.from_numpy(found.bias.values(found))
            if isinstance(attention.looking, TimeMinusToken):
                attention.looking.w[own, index] = 1.0
            elif isinstance(attention.looking, DotProducts):
                attention.looking.w_q[own, 0, index] = encoding.slopes[layer, own]
                attention.looking.w_k[own, 0, -1] = 1 / _constant(plan.bias)
    ffns = [_index_ffn(plan, group, first=not layer) for layer, group in enumerate(plan.groups)]
    model = MemoryTransformer(1, attentions, encoding, [*ffns, None], _readout_ffn(plan), NoNorm()).double()
    model.encode.weight.copy_(torch.eye(width, 1))
    model.encode.bias.zero_()
    return model.eval()


def _slopes(plan: Plan, fits: Sequence[Fit]) -> Float[Tensor, "layer head"]:
    """Of all layers, those of the memories of a layer one behind the other."""
    slopes = torch.full((plan.layers, plan.total_heads), IDLE_SLOPE, dtype=torch.float64)
    for row, group in zip(slopes[1:], plan.groups, strict=True):
        own = [slope for number in group for slope in fits[number - 1].slopes]
        row[: len(own)] = torch.tensor(own, dtype=torch.float64)
    return slopes


def _index_ffn(plan: Plan, group: Sequence[int], *, first: bool) -> Ffn:
    """Writes the indices of these memories; the first one the constant as well."""
    memories = plan.task.memories
    parts = [(memories + number, plan.units[number - 1]) for number in group]
    if first:
        constant = np.array([_constant(plan.bias)])
        parts.append((plan.width - 1, Units(np.zeros((1, 0)), np.ones(1), constant, (), 0.0)))
    ffn = Ffn(plan.width, sum(len(units.bias) for _, units in parts), plan.width, _precision(plan.bias))
    return _filled(ffn, parts)


def _readout_ffn(plan: Plan) -> Ffn:
    """f of the memories, and of x_t where it is read."""
    tokens = plan.task.memories + int(plan.task.current)
    slopes, offsets, heights = (np.array(part) for part in plan.readout.hinges(tokens))
    up = slopes[:, None] * np.array(plan.reads)
    return _filled(Ffn(plan.width, len(slopes), 1), [(0, Units(up, offsets, heights, (), 1.0))])


def _filled(ffn: Ffn, parts: Sequence[tuple[int, Units]]) -> Ffn:
    """Units under each other, each part writing to a column; token j of a part is column j."""
    ffn = ffn.double()
    ffn.up.weight.zero_()
    ffn.down.weight.zero_()
    start = 0
    for column, units in parts:
        own = slice(start, start + len(units.bias))
        ffn.up.weight[own, : units.up.shape[1]] = torch.from_numpy(units.up)
        ffn.up.bias[own] = torch.from_numpy(units.bias)
        ffn.down.weight[column, own] = torch.from_numpy(units.down)
        start = own.stop
    return ffn


def _table(task: AdaptiveMemory, number: int) -> Int[ndarray, "..."]:
    """The lag of a memory for all tokens that its index function reads, an axis each."""
    tokens, arguments = task.tokens, task.arguments_of(number)
    tokens.combinations(arguments)  # refuses tables that are too large
    rows = torch.tensor(list(product(tokens.values, repeat=arguments)))[:, None]
    lags = task.index_of(number).lag(rows, tokens, task.within, number)
    table: ndarray = lags[:, 0].numpy().reshape((len(tokens.values),) * arguments)
    return table


def _readout_of(task: AdaptiveMemory) -> tuple[Readout, tuple[float, ...]]:
    """f as a function of a weighted sum, and the weights of x_t and the memories."""
    unread = () if task.current else (0.0,)
    ones = (1.0,) * (task.memories + int(task.current))
    if isinstance(task.readout, Sum):
        return SUM, unread + (task.readout.weights or ones)
    if isinstance(task.readout, Parity) and task.tokens.values == SIGNS:
        return PRODUCT, unread + ones
    raise OrdinateError(
        f"readout {task.readout.name!r} is not constructed: write readout=sum, or readout=parity with tokens=signs"
    )


def _precision(bias: Bias) -> Precision:
    return LogsOfWholeNumbers() if isinstance(bias, Log) else WholeNumbers()


def _constant(bias: Bias) -> float:
    """1, or log 2: a number that rounding leaves alone and that is not 0."""
    return float(bias.distances(np.array([2.0 if isinstance(bias, Log) else 1.0]))[0])
