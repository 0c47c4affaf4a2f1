"""Dense attention over classes of pairs: scores of all pairs, but never a [query, key, dim] tensor.

The class term is one product of the queries with the table of class vectors, followed by a lookup. Where the class
depends on key - query only, as in relative encodings, the table is laid out by offset, and the lookup is a view:
row i of [query, offset], read from its own zero offset on, is row i of [query, key].
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ordinate.attention.layout import Layout, check, layout_of, with_plain
from ordinate.attention.members import map_members
from ordinate.positions.relations.pattern import Pattern

CHUNK = 1 << 18
"""Scores in a chunk: few enough for the cache, enough to hide the cost of a call."""
QUERIES = 128
"""Queries in a chunk with classes by offset, whose product with the table has queries - 1 columns too many: at most
so many, and at most half of all."""
KEEP = 128, 4
"""Weights that are kept for the backward pass, by query: so many, or so many times the numbers of a value. They are no
larger than a few of the inputs; chunks beyond that make theirs again."""


def dense_attention(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    scores_bias: Float[Tensor, "#head token token"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """score_ij = scale (q_i . k_j + q_i . a_c) + b_c + s_ij, c = class(i, j); out_i = sum_j softmax_j(score)_ij v_j.

    Sums run over the attended pairs. Without `key`, `vectors` (a), `bias` (b) or `scores_bias` (s) that term is
    left out; plain pairs have a = 0 and b = 0. Without `query` the weights have no batch axis and are made once.

    >>> query, key = torch.tensor([0, 1, 1, 2, 2]), torch.tensor([0, 0, 1, 1, 2])
    >>> back = Pattern(3, 2, query, key, query - key, (0, 3))  # the token itself, and the one before
    >>> value = torch.tensor([1.0, 2.0, 4.0]).view(1, 1, 3, 1)
    >>> dense_attention(None, None, value, back, bias=torch.zeros(1, 2)).flatten()
    tensor([1.0000, 1.5000, 3.0000])
    """
    check(pattern, query, key, value, (vectors, bias), scores_bias)
    layout = layout_of(pattern)
    added = _added(layout, bias, scores_bias, value.dtype)
    if query is None:
        assert added is not None  # `check` saw a bias
        return _mix_for_all(torch.softmax(added, -1), value)
    table = None if vectors is None else with_plain(vectors) * scale
    batch, heads, tokens, _ = value.shape
    small = batch * heads * tokens**2 <= CHUNK
    if table is not None and layout.diagonals is not None and not small:
        table = table.index_select(1, layout.diagonals)
    apart = any(shared is not None and len(shared) > 1 for shared in (table, added))
    full = heads * tokens**2 >= CHUNK // 2

    def rows(x: Tensor) -> Tensor:
        """[group, row, token, dim]: a group is a head; or where heads share all, a sample that fills chunks, or all."""
        if apart:
            return x.transpose(0, 1)
        return x if full else x.reshape(1, batch * heads, tokens, -1)

    operands = (rows(query), None if key is None else rows(key), rows(value), table, added)
    if small:
        out = _attend(*operands, layout, scale)
    else:
        device = value.device.type
        dtype = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else value.dtype
        cast = [None if operand is None else operand.to(dtype) for operand in operands]
        with torch.autocast(device, enabled=False):  # which would not reach the backward pass
            out = _Chunked.apply(*cast, layout, scale, torch.is_grad_enabled())[0]  # type: ignore[no-untyped-call]
    return out.transpose(0, 1) if apart else out.reshape(batch, heads, tokens, -1)


def _added(
    layout: Layout, bias: Tensor | None, scores_bias: Tensor | None, dtype: torch.dtype
) -> Float[Tensor, "head query key"] | None:
    """The terms of the scores that no sample changes; minus infinity where a pair is not attended."""
    terms = [] if scores_bias is None else [scores_bias]
    if bias is not None:
        looked_up = with_plain(bias).index_select(1, layout.classes.flatten())
        terms.append(looked_up.view(-1, *layout.classes.shape))
    if layout.mask is not None:
        terms.append(layout.mask.to(dtype)[None])
    return sum(terms[1:], terms[0]) if terms else None


def _mix_for_all(
    weights: Float[Tensor, "group token token"], value: Float[Tensor, "batch head token dim_v"]
) -> Float[Tensor, "batch head token dim_v"]:
    """One product for all samples, and for all heads that share their weights."""
    parts = value.unflatten(1, (len(weights), -1)).permute(1, 3, 0, 2, 4)
    mixed = torch.bmm(weights, parts.flatten(2)).view(parts.shape)
    return mixed.permute(2, 0, 3, 1, 4).flatten(1, 2)


def _attend(
    query: Tensor,
    key: Tensor | None,
    value: Tensor,
    table: Tensor | None,
    added: Tensor | None,
    layout: Layout,
    scale: float,
) -> Float[Tensor, "group row token dim_v"]:
    """All at once in ordinary operations: faster than one chunk with a backward pass of its own."""
    group, row, token, _ = query.shape
    scores = None
    if table is not None:
        by_class = torch.bmm(query.flatten(1, 2), table.expand(group, -1, -1).mT).reshape(group * row, -1)
        scores = by_class.index_select(1, layout.index).view(-1, token, token)
    if added is not None:
        shared = added[:, None].expand(group, row, -1, -1).flatten(0, 1)
        scores = shared if scores is None else scores + shared
    if key is not None:
        scores = _add_product(scores, query.flatten(0, 1), key.flatten(0, 1).mT, scale)
    assert scores is not None  # a query comes with keys or vectors
    mixed = torch.bmm(torch.softmax(scores, -1), value.flatten(0, 1))
    return mixed.view(group, row, token, -1)


def _add_product(scores: Tensor | None, first: Tensor, second: Tensor, scale: float) -> Tensor:
    """`scores`, where there are some, and scale times the product."""
    if scores is None:
        return torch.baddbmm(first.new_zeros(()), first, second, beta=0, alpha=scale)
    return torch.baddbmm(scores, first, second, alpha=scale)


class _Chunk(NamedTuple):
    """Some rows of a group, and some of their queries."""

    group: int
    rows: slice
    queries: slice
    table: slice
    """The rows of the table that these queries meet."""
    lookup: Tensor | None
    """Where pairs are looked up; None where the lookup is a view."""


def _chunks(value: Tensor, table: Tensor | None, layout: Layout) -> Iterator[_Chunk]:
    groups, rows, tokens, _ = value.shape
    skewed = table is not None and layout.diagonals is not None
    most = max(1, min(CHUNK // tokens, min(QUERIES, -(-tokens // 2)) if skewed else tokens))
    most = -(-tokens // -(-tokens // most))  # as many chunks, of nearly equal size
    many = max(1, CHUNK // (most * tokens))
    for first in range(0, tokens, most):
        last = min(tokens, first + most)
        lookup, part = None, slice(None)
        if skewed:
            part = slice(tokens - last, 2 * tokens - 1 - first)
        elif table is not None:
            lookup = layout.index[first * tokens : last * tokens] - first * layout.count
        for group in range(groups):
            for row in range(0, rows, many):
                yield _Chunk(group, slice(row, row + many), slice(first, last), part, lookup)


def _skew(by_offset: Tensor, tokens: int) -> Float[Tensor, "row query key"]:
    """The view [query, key] of [query, offset], whose offsets begin at that of the last query and the first key."""
    rows, queries, width = by_offset.shape
    return by_offset.as_strided((rows, queries, tokens), (queries * width, width - 1, 1), queries - 1)


def _weights(
    query: Tensor,
    key: Tensor | None,
    table: Tensor | None,
    added: Tensor | None,
    scale: float,
    chunk: _Chunk,
) -> Float[Tensor, "row query key"]:
    queries, tokens = query[chunk.group, chunk.rows, chunk.queries], query.shape[2]
    rows, some, dim = queries.shape
    scores = None
    if table is not None:
        by_class = queries.reshape(-1, dim) @ _of(table, chunk)[chunk.table].T
        if chunk.lookup is None:
            scores = _skew(by_class.view(rows, some, -1), tokens)
        else:
            scores = by_class.view(rows, -1).index_select(1, chunk.lookup).view(rows, some, tokens)
    if added is not None:
        shared = _of(added, chunk)[chunk.queries].expand(rows, -1, -1)
        scores = shared if scores is None else scores + shared
    if key is not None:
        scores = _add_product(scores, queries, key[chunk.group, chunk.rows].mT, scale)
    assert scores is not None
    return torch.softmax(scores, -1)


def _of(shared: Tensor, chunk: _Chunk) -> Tensor:
    """What the chunk's group has of its own, or all groups have in common."""
    return shared[chunk.group if len(shared) > 1 else 0]


def _take(kept: Tensor | None, chunk: _Chunk, value: Tensor, used: int) -> tuple[Tensor | None, int]:
    """The place of a chunk's weights among those that are kept, if there is room, and how much is used after it."""
    tokens = value.shape[2]
    shape = (len(range(value.shape[1])[chunk.rows]), len(range(tokens)[chunk.queries]), tokens)
    after = used + math.prod(shape)
    if kept is None or after > len(kept):
        return None, used
    return kept[used:after].view(shape), after


class _Chunked(torch.autograd.Function):
    """The same in chunks that stay in the cache; the backward pass makes the weights again that were not kept."""

    @staticmethod
    def forward(
        query: Tensor,
        key: Tensor | None,
        value: Tensor,
        table: Tensor | None,
        added: Tensor | None,
        layout: Layout,
        scale: float,
        keep: bool,
    ) -> tuple[Tensor, Tensor | None]:
        out = value.new_empty(value.shape)
        tokens, dim = value.shape[2:]
        columns = min(tokens, max(KEEP[0], KEEP[1] * dim))
        kept, used = value.new_empty(value.numel() // dim * columns) if keep else None, 0
        for chunk in _chunks(value, table, layout):
            weights = _weights(query, key, table, added, scale, chunk)
            place, used = _take(kept, chunk, value, used)
            if place is not None:
                place.copy_(weights)
            out[chunk[:3]] = torch.bmm(weights, value[chunk[:2]])
        return out, kept

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor | None]) -> None:
        *tensors, ctx.layout, ctx.scale, _ = inputs
        if output[1] is not None:
            ctx.mark_non_differentiable(output[1])
        ctx.set_materialize_grads(False)  # no zeros for the weights, which nobody differentiates
        ctx.save_for_backward(*tensors, output[1])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        """One call for each member."""
        return map_members(_Chunked, info, in_dims, args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, _: None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return (None,) * 8
        *tensors, kept = ctx.saved_tensors
        query, key, value, table, added = tensors
        grads = [
            tensor.new_zeros(tensor.shape) if needed else None  # contiguous, for products in place
            for tensor, needed in zip(tensors, ctx.needs_input_grad, strict=False)
        ]
        grad_query, grad_key, grad_value, grad_table, grad_added = grads
        used = 0
        for chunk in _chunks(value, table, ctx.layout):
            here, rows = chunk[:3], chunk[:2]
            weights, used = _take(kept, chunk, value, used)
            if weights is None:
                weights = _weights(query, key, table, added, ctx.scale, chunk)
            if grad_value is not None:
                grad_value[rows].baddbmm_(weights.mT, grad[here])
            grad_weights = torch.bmm(grad[here], value[rows].mT)
            scores = torch._softmax_backward_data(grad_weights, weights, -1, weights.dtype)
            if grad_added is not None:
                _of(grad_added, chunk)[chunk.queries] += scores.sum(0)
            if key is not None and grad_query is not None:
                grad_query[here] = _add_product(None, scores, key[rows], ctx.scale)
            if grad_key is not None:
                grad_key[rows].baddbmm_(scores.mT, query[here], alpha=ctx.scale)
            if table is None:
                continue
            by_class = _by_class(scores, table, chunk)
            if grad_query is not None:
                grad_query[here] += (by_class @ _of(table, chunk)[chunk.table]).view(query[here].shape)
            if grad_table is not None:
                _of(grad_table, chunk)[chunk.table].addmm_(by_class.T, query[here].flatten(0, 1))
        return *grads, None, None, None


def _by_class(scores: Tensor, table: Tensor, chunk: _Chunk) -> Float[Tensor, "row_query cls"]:
    """The lookup backwards: gradients of pairs summed by query and class."""
    rows, queries, tokens = scores.shape
    if chunk.lookup is None:
        by_offset = scores.new_zeros(rows, queries, tokens + queries - 1)
        _skew(by_offset, tokens).copy_(scores)
        return by_offset.flatten(0, 1)
    by_class = scores.new_zeros(rows, queries * table.shape[1])
    return by_class.index_add_(1, chunk.lookup, scores.flatten(1)).view(rows * queries, -1)
