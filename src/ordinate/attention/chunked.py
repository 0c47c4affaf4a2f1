"""The same attention over classes in chunks that stay in the cache, with a backward pass of its own.

Where the class depends on key - query only, as in relative encodings, the table is laid out by offset, and the lookup
is a view: row i of [query, offset], read from its own zero offset on, is row i of [query, key].
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ordinate.attention.layout import Layout
from ordinate.attention.members import map_members

CHUNK = 1 << 18
"""Scores in a chunk: few enough for the cache, enough to hide the cost of a call."""
QUERIES = 128
"""Queries in a chunk with classes by offset, whose product with the table has queries - 1 columns too many: at most
so many, and at most half of all."""
KEEP = 128, 8
"""Weights that are kept for the backward pass, by query: so many, or so many times the numbers of a value. They are no
larger than a few of the inputs; chunks beyond that make theirs again."""


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


def _chunks(value: Tensor, table: Tensor | None, layout: Layout) -> Iterator[_Chunk]:
    """All queries of some rows, then of the next rows."""
    groups, rows, tokens, _ = value.shape
    skewed = table is not None and layout.diagonals is not None
    most = max(1, min(CHUNK // tokens, min(QUERIES, -(-tokens // 2)) if skewed else tokens))
    most = -(-tokens // -(-tokens // most))  # as many chunks, of nearly equal size
    many = max(1, CHUNK // (most * tokens))
    spans = [slice(first, min(tokens, first + most)) for first in range(0, tokens, most)]
    parts: list[tuple[slice, Tensor | None]] = [(slice(None), None)] * len(spans)
    if skewed:
        parts = [(slice(tokens - span.stop, 2 * tokens - 1 - span.start), None) for span in spans]
    elif table is not None:
        pairs = (layout.index[span.start * tokens : span.stop * tokens] for span in spans)
        lookups = (index - span.start * layout.count for index, span in zip(pairs, spans, strict=True))
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
    return torch.softmax(scores, -1)


def _of(shared: Tensor, chunk: _Chunk) -> Tensor:
    """What the chunk's group has of its own, or all groups have in common."""
    return shared[chunk.group if len(shared) > 1 else 0]


class Chunked(torch.autograd.Function):
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
    ) -> tuple[Tensor, ...]:
        """What is mixed, and the weights of the first chunks, as many as there is room for."""
        out = value.new_empty(value.shape)
        dim = value.shape[3]
        room = value.numel() // dim * max(KEEP[0], KEEP[1] * dim) if keep else 0
        kept = []
        for chunk in _chunks(value, table, layout):
            weights = _weights(query, key, table, added, scale, chunk)
            room -= weights.numel()
            if room >= 0:
                kept.append(weights)
            out[chunk[:3]] = torch.bmm(weights, value[chunk[:2]])
        return out, *kept

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        """Keep the inputs and the weights."""
        *tensors, ctx.layout, ctx.scale, _ = inputs
        ctx.kept = list(output[1:])  # of which the backward pass lets go one by one
        ctx.mark_non_differentiable(*ctx.kept)
        ctx.set_materialize_grads(False)  # no zeros for the weights, which nobody differentiates
        ctx.save_for_backward(*tensors)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        """One call for each member, which keeps its own weights."""
        return map_members(Chunked, info, in_dims, args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, *_: None) -> tuple[Tensor | None, ...]:
        """Chunk by chunk in the same order."""
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
        for chunk in _chunks(value, table, ctx.layout):
            here, rows = chunk[:3], chunk[:2]
            weights = kept.pop() if kept else _weights(query, key, table, added, ctx.scale, chunk)
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
