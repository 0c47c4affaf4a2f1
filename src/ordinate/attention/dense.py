"""Dense attention over classes of pairs: scores of all pairs, but never a [query, key, dim] tensor.

The class term is one product of the queries with the table of class vectors, followed by a lookup. Small inputs are
computed all at once; large ones in chunks that stay in the cache, with a backward pass of its own.

Where the class depends on key - query only, as in relative encodings, the table is laid out by offset, and the lookup
is a view: row i of [query, offset], read from its own zero offset on, is row i of [query, key].
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ordinate.attention.kernels import autocast_dtype, each_member, without_autocast
from ordinate.attention.tables import DenseTables

CHUNK = 1 << 18
"""Scores in a chunk on the CPU: few enough for the cache, enough to hide the cost of a call."""
DEVICE_CHUNK = 1 << 26
"""Scores in a chunk on other devices, where calls cost more and only memory is scarce."""
QUERIES = 128
"""Queries in a chunk with classes by offset: min(128, half of the tokens), since the product with the table has
queries - 1 columns too many."""
KEEP = 128, 8
"""Weights kept for the backward pass, by query: 128, or 8 times the numbers of a value, whichever is more. They are no
larger than a few of the inputs; chunks beyond that compute theirs again."""


def chunk_size(device: torch.device) -> int:
    """Scores computed at once."""
    return CHUNK if device.type == "cpu" else DEVICE_CHUNK


def kept_room(value: Float[Tensor, "*row dim"]) -> int:
    """How many weights are kept for the backward pass."""
    return value.numel() // value.shape[-1] * max(KEEP[0], KEEP[1] * value.shape[-1])


def dense(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    tables: DenseTables,
    vectors: Float[Tensor, "#head cls dim"] | None,
    bias: Float[Tensor, "#head cls"] | None,
    scores_bias: Float[Tensor, "#head token token"] | None,
    scale: float | int,
) -> Float[Tensor, "batch head token dim_v"]:
    """`dense_attention` of inputs that were checked, and are finite where a pair is absent."""
    added = _added(tables, bias, scores_bias)
    if query is None:
        assert added is not None  # a bias was checked to be there
        return _mix_for_all(torch.softmax(limited(added.clone(), tables.limit), -1), value)
    table = None if vectors is None else with_plain(vectors) * scale
    batch, heads, tokens, _ = value.shape
    size = chunk_size(value.device)
    small = batch * heads * tokens**2 <= size
    if table is not None and tables.diagonals is not None and not small:
        table = table.index_select(1, tables.diagonals)
    apart = any(shared is not None and len(shared) > 1 for shared in (table, added))
    full = heads * tokens**2 >= size // 2

    def rows(x: Tensor) -> Tensor:
        """[group, row, token, dim]: a group is a head; or where heads share all, a sample that fills chunks, or all."""
        if apart:
            return x.transpose(0, 1)
        return x if full else x.reshape(1, batch * heads, tokens, -1)

    operands = (rows(query), None if key is None else rows(key), rows(value), table, added)
    if small:
        out = _at_once(*operands, tables, scale)
    else:
        dtype = autocast_dtype(value)
        cast = [None if operand is None else operand.to(dtype) for operand in operands]
        with without_autocast(value):  # which would not reach the backward pass
            out = _Chunked.apply(*cast, tables, scale, torch.is_grad_enabled())[0]  # type: ignore[no-untyped-call]
    return out.transpose(0, 1) if apart else out.reshape(batch, heads, tokens, -1)


def reached(bad: Float[Tensor, "batch head key"], tables: DenseTables) -> Float[Tensor, "batch head query"]:
    """How many of the keys marked by 1 every query attends to."""
    return bad @ tables.attended


def with_plain(rows: Float[Tensor, "head cls *dim"]) -> Float[Tensor, "head more *dim"]:
    """Zeros for plain pairs, whose id comes after the classes."""
    return torch.cat([rows, rows.new_zeros(len(rows), 1, *rows.shape[2:])], 1)


def _added(
    tables: DenseTables, bias: Tensor | None, scores_bias: Tensor | None
) -> Float[Tensor, "head query key"] | None:
    """The terms of the scores that no sample changes."""
    terms = [] if scores_bias is None else [scores_bias]
    if bias is not None:
        looked_up = with_plain(bias).index_select(1, tables.classes.flatten())
        terms.append(looked_up.view(-1, *tables.classes.shape))
    return sum(terms[1:], terms[0]) if terms else None


def limited(scores: Tensor, limit: Tensor | None) -> Tensor:
    """Minus infinity where a pair is absent, in place; the weights are 0 there, and so is the gradient.

    A limit takes a fifth of the time of filling.
    """
    if limit is not None:
        with torch.no_grad():
            scores.clamp_max_(limit.to(scores.dtype))
    return scores


def _mix_for_all(
    weights: Float[Tensor, "group token token"], value: Float[Tensor, "batch head token dim_v"]
) -> Float[Tensor, "batch head token dim_v"]:
    """One product for all samples, and for all heads that share their weights."""
    parts = value.unflatten(1, (len(weights), -1)).permute(1, 3, 0, 2, 4)
    mixed = torch.bmm(weights, parts.flatten(2)).view(parts.shape)
    return mixed.permute(2, 0, 3, 1, 4).flatten(1, 2)


def _at_once(
    query: Tensor,
    key: Tensor | None,
    value: Tensor,
    table: Tensor | None,
    added: Tensor | None,
    tables: DenseTables,
    scale: float,
) -> Float[Tensor, "group row token dim_v"]:
    """All at once in ordinary operations: faster than one chunk with a backward pass of its own."""
    group, row, token, _ = query.shape
    scores = None
    if table is not None:
        by_class = torch.bmm(query.flatten(1, 2), table.expand(group, -1, -1).mT).reshape(group * row, -1)
        scores = by_class.index_select(1, tables.index).view(-1, token, token)
    if added is not None:
        shared = added[:, None].expand(group, row, -1, -1).flatten(0, 1)
        scores = shared if scores is None else scores + shared
    if key is not None:
        scores = add_product(scores, query.flatten(0, 1), key.flatten(0, 1).mT, scale)
    assert scores is not None  # a query comes with keys or vectors
    mixed = torch.bmm(torch.softmax(limited(scores, tables.limit), -1), value.flatten(0, 1))
    return mixed.view(group, row, token, -1)


def add_product(scores: Tensor | None, first: Tensor, second: Tensor, scale: float) -> Tensor:
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


def _chunks(value: Tensor, table: Tensor | None, tables: DenseTables) -> Iterator[_Chunk]:
    """All queries of some rows, then of the next rows."""
    groups, rows, tokens, _ = value.shape
    skewed = table is not None and tables.diagonals is not None
    size = chunk_size(value.device)
    most = max(1, min(size // tokens, min(QUERIES, -(-tokens // 2)) if skewed else tokens))
    most = -(-tokens // -(-tokens // most))  # as many chunks, of nearly equal size
    many = max(1, size // (most * tokens))
    spans = [slice(first, min(tokens, first + most)) for first in range(0, tokens, most)]
    parts: list[tuple[slice, Tensor | None]] = [(slice(None), None)] * len(spans)
    if skewed:
        parts = [(slice(tokens - span.stop, 2 * tokens - 1 - span.start), None) for span in spans]
    elif table is not None:
        pairs = (tables.index[span.start * tokens : span.stop * tokens] for span in spans)
        lookups = (index - span.start * tables.count for index, span in zip(pairs, spans, strict=True))
        parts = [(slice(None), lookup) for lookup in lookups]
    for group in range(groups):
        for row in range(0, rows, many):
            for span, part in zip(spans, parts, strict=True):
                yield _Chunk(group, slice(row, row + many), span, *part)


def _skew(by_offset: Tensor, tokens: int) -> Float[Tensor, "row query key"]:
    """The view [query, key] of [query, offset], whose offsets begin at that of the last query and the first key."""
    rows, queries, width = by_offset.shape
    return by_offset.as_strided((rows, queries, tokens), (queries * width, width - 1, 1), queries - 1)


def _weights(
    query: Tensor,
    key: Tensor | None,
    table: Tensor | None,
    added: Tensor | None,
    tables: DenseTables,
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
        keys = key[chunk.group, chunk.rows].mT
        if table is None:  # what is added is shared
            scores = add_product(scores, queries, keys, scale)
        else:
            assert scores is not None
            scores.baddbmm_(queries, keys, alpha=scale)
    assert scores is not None
    limit = tables.limit
    return torch.softmax(limited(scores, None if limit is None else limit[chunk.queries]), -1)


def _of(shared: Tensor, chunk: _Chunk) -> Tensor:
    """What the chunk's group has of its own, or all groups have in common."""
    return shared[chunk.group if len(shared) > 1 else 0]


class _Chunked(torch.autograd.Function):
    """The same in chunks that stay in the cache; the backward pass makes the weights again that were not kept."""

    @staticmethod
    def forward(
        query: Tensor,
        key: Tensor | None,
        value: Tensor,
        table: Tensor | None,
        added: Tensor | None,
        tables: DenseTables,
        scale: float,
        keep: bool,
    ) -> tuple[Tensor, ...]:
        """What is mixed, and the weights of the first chunks, as many as there is room for."""
        out = value.new_empty(value.shape)
        room = kept_room(value) if keep else 0
        kept = []
        for chunk in _chunks(value, table, tables):
            weights = _weights(query, key, table, added, tables, scale, chunk)
            room -= weights.numel()
            if room >= 0:
                kept.append(weights)
            out[chunk[:3]] = torch.bmm(weights, value[chunk[:2]])
        return out, *kept

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        *tensors, ctx.tables, ctx.scale, _ = inputs
        ctx.kept = list(output[1:])  # of which the backward pass lets go one by one
        ctx.mark_non_differentiable(*ctx.kept)
        ctx.set_materialize_grads(False)  # no zeros for the weights, which nobody differentiates
        ctx.save_for_backward(*tensors)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        return each_member(_Chunked, info, in_dims, args, outputs=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, *_: None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return (None,) * 8
        query, key, value, table, added = ctx.saved_tensors
        needed = ctx.needs_input_grad
        turned = (False, True, True)  # products that write rows of tokens are the faster ones
        grads = [_Pieces(turn) if need else None for need, turn in zip(needed, turned, strict=False)]
        grad_table, grad_added = (
            tensor.new_zeros(tensor.shape) if need else None
            for tensor, need in zip((table, added), needed[3:5], strict=True)
        )
        by_class_of = _Backwards(table)
        kept, ctx.kept = ctx.kept[::-1], []  # a second backward pass makes all of them again
        for chunk in _chunks(value, table, ctx.tables):
            here, rows = chunk[:3], chunk[:2]
            weights = kept.pop() if kept else _weights(query, key, table, added, ctx.tables, ctx.scale, chunk)
            grad_query, grad_key, grad_value = (
                None if pieces is None else pieces.of(chunk, tensor)
                for pieces, tensor in zip(grads, (query, key, value), strict=True)
            )
            if grad_value is not None:
                grad_value.baddbmm_(grad[here].mT, weights)
            grad_weights = torch.bmm(grad[here], value[rows].mT)
            scores = torch._softmax_backward_data(grad_weights, weights, -1, weights.dtype)
            if grad_added is not None:
                _of(grad_added, chunk)[chunk.queries] += scores.sum(0)
            if grad_key is not None:
                grad_key.baddbmm_(query[here].mT, scores, alpha=ctx.scale)
            in_query = None
            if table is not None:
                by_class = by_class_of(scores, chunk)
                if grad_query is not None:
                    in_query = (by_class @ _of(table, chunk)[chunk.table]).view(query[here].shape)
                if grad_table is not None:
                    _of(grad_table, chunk)[chunk.table].addmm_(by_class.T, query[here].flatten(0, 1))
            if grad_query is not None:
                if key is not None:
                    in_query = add_product(in_query, scores, key[rows], ctx.scale)
                assert in_query is not None  # a query comes with keys or vectors
                grad_query[:, chunk.queries] = in_query
        joined = (None if pieces is None else pieces.joined(len(value)) for pieces in grads)
        return *joined, grad_table, grad_added, None, None, None


class _Pieces:
    """A gradient that is made some rows at a time, while weights that were kept make room for it.

    Where it is `turned`, rows are [dim, token] until they are joined.
    """

    def __init__(self, turned: bool) -> None:
        self.turned = turned
        self.pieces: list[Tensor] = []

    def of(self, chunk: _Chunk, like: Tensor) -> Float[Tensor, "row _ _"]:
        """That of a chunk's rows: zeros at their first queries, contiguous for products in place."""
        if chunk.queries.start == 0:
            rows, tokens, dim = like[chunk[:2]].shape
            self.pieces.append(like.new_zeros((rows, dim, tokens) if self.turned else (rows, tokens, dim)))
        return self.pieces[-1]

    def joined(self, groups: int) -> Float[Tensor, "group row token dim"]:
        """All of it; the pieces are let go."""
        pieces, self.pieces = self.pieces, []
        whole = pieces[0] if len(pieces) == 1 else torch.cat(pieces)
        joined = whole.view(groups, -1, *whole.shape[1:])
        return joined.mT if self.turned else joined


class _Backwards:
    """The lookup backwards: gradients of pairs summed by query and class."""

    def __init__(self, table: Tensor | None) -> None:
        self.table = table
        self.by_offset: Tensor | None = None

    def __call__(
        self, scores: Float[Tensor, "row query key"], chunk: _Chunk
    ) -> Float[Tensor, "row_query cls"]:
        assert self.table is not None
        rows, queries, tokens = scores.shape
        if chunk.lookup is None:
            shape = rows, queries, tokens + queries - 1
            if self.by_offset is None or self.by_offset.shape != shape:
                self.by_offset = scores.new_zeros(shape)
            _skew(self.by_offset, tokens).copy_(scores)  # what is beside the view stays zero
            return self.by_offset.flatten(0, 1)
        by_class = scores.new_zeros(rows, queries * self.table.shape[1])
        return by_class.index_add_(1, chunk.lookup, scores.flatten(1)).view(rows * queries, -1)
