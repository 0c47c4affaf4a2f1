"""Blocked attention over classes of pairs: each block of queries reads the stretches of keys that it attends to.

The formula of `dense_attention`, for patterns in which the class of a pair is decided by its offset key - query inside
of every block, as in windows, causal attention, and fields that read fields. Time and memory grow with tokens x window.

In a block the scores of classes are one product, of the queries with a table that has a row for every offset; row i
of [query, offset], read from its own first key on, is row i of [query, key], so that nothing is looked up. A last
column of the table holds what no query changes: the bias of the class, and minus infinity where the pair is absent.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ordinate.attention.dense import chunk_size, kept_room
from ordinate.attention.kernels import autocast_dtype, each_member, without_autocast
from ordinate.attention.tables import BlockedTables, QueryBlock, Stretch


def blocked(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    tables: BlockedTables,
    vectors: Float[Tensor, "#head cls dim_c"] | None,
    bias: Float[Tensor, "#head cls"] | None,
    scale: float | int,
    look: Float[Tensor, "batch head token dim_c"] | None = None,
) -> Float[Tensor, "batch head token dim_v"]:
    """`blocked_attention` of inputs that were checked, and are finite where a pair is absent."""
    batch, heads, tokens, _ = value.shape
    look = query if look is None else look
    table = tables.rows(vectors, bias, value)
    if look is None:
        assert table is not None  # a bias was checked to be there
        return _mix_for_all(value, table, tables)
    apart = table is not None and len(table) > 1

    def grouped(x: Tensor) -> Float[Tensor, "group row token dim"]:
        """A group is a head with a table of its own; or all samples and heads that share one."""
        return x.transpose(0, 1) if apart else x.reshape(1, batch * heads, tokens, -1)

    looks = queries = keys = None
    if table is not None:
        ones = look.new_ones(1, 1, tokens, 1).expand(batch, heads, -1, -1)
        looks = grouped(ones if vectors is None else torch.cat([look * scale, ones], -1))
    if query is not None and key is not None:
        queries, keys = grouped(query), grouped(key)
    out = _run(looks, queries, keys, grouped(value), table, tables, scale)
    return out.transpose(0, 1) if apart else out.reshape(batch, heads, tokens, -1)


def _mix_for_all(
    value: Tensor, table: Tensor, tables: BlockedTables
) -> Float[Tensor, "batch head token dim_v"]:
    """Weights that no sample changes: all samples, and all heads that share their weights, are one wide value."""
    parts = value.unflatten(1, (len(table), -1)).permute(1, 3, 0, 2, 4)
    ones = value.new_ones(len(table), 1, value.shape[2], 1)
    mixed = _run(ones, None, None, parts.flatten(2)[:, None], table, tables, 1.0)
    return mixed[:, 0].view(parts.shape).permute(2, 0, 3, 1, 4).flatten(1, 2)


def _run(
    look: Tensor | None,
    query: Tensor | None,
    key: Tensor | None,
    value: Tensor,
    table: Tensor | None,
    tables: BlockedTables,
    scale: float,
) -> Tensor:
    dtype = autocast_dtype(value)
    operands = [x if x is None else x.to(dtype).contiguous() for x in (look, query, key, value, table)]
    with without_autocast(value):  # which would not reach the backward pass
        out: Tensor = _Blocked.apply(*operands, tables, scale, torch.is_grad_enabled())[0]  # type: ignore[no-untyped-call]
    return out


def reached(bad: Float[Tensor, "batch head key"], tables: BlockedTables) -> Float[Tensor, "batch head query"]:
    """How many of the keys marked by 1 every query attends to."""
    count = bad.new_zeros(bad.shape)
    for block in tables.blocks:
        for stretch in block.stretches:
            attended = tables.attended(block, stretch)
            count[..., block.first : block.last] += bad[..., stretch.first : stretch.last] @ attended
    return count


class _Chunk(NamedTuple):
    """A block of queries, in some rows of some groups."""

    groups: slice
    rows: slice
    block: QueryBlock


def _chunks(value: Tensor, tables: BlockedTables) -> Iterator[_Chunk]:
    """All blocks of some rows, then of the next rows."""
    groups, rows = value.shape[:2]
    widest = max((block.last - block.first) * block.keys for block in tables.blocks)
    many = max(1, chunk_size(value.device) // widest)
    some = max(1, min(groups, many // rows))
    many = rows if some > 1 else min(rows, many)
    for group in range(0, groups, some):
        for row in range(0, rows, many):
            for block in tables.blocks:
                yield _Chunk(slice(group, group + some), slice(row, row + many), block)


class _Room:
    """Memory that chunks use one after the other: what is new for every chunk would be paged in for every chunk."""

    def __init__(self, like: Tensor, dtype: torch.dtype | None = None) -> None:
        self.flat = like.new_empty(0, dtype=dtype)

    def of(self, *shape: int) -> Tensor:
        """Some of it, with the numbers that are there."""
        count = 1
        for size in shape:
            count *= size
        if len(self.flat) < count:
            self.flat = self.flat.new_zeros(count)
        return self.flat[:count].view(shape)


def _part(x: Tensor, chunk: _Chunk, tokens: slice) -> Float[Tensor, "row token dim"]:
    return x[chunk.groups, chunk.rows, tokens].flatten(0, 1)


def _keys(x: Tensor, chunk: _Chunk) -> Float[Tensor, "row key dim"]:
    """Those that a block reads, side by side."""
    parts = [_part(x, chunk, slice(s.first, s.last)) for s in chunk.block.stretches]
    return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def _rows_of(table: Tensor, chunk: _Chunk, stretch: Stretch) -> Float[Tensor, "group offset dim"]:
    shared = table if len(table) == 1 else table[chunk.groups]
    return shared[:, stretch.table : stretch.table + stretch.last - stretch.first + chunk.block.size - 1]


def _skew(by_offset: Tensor, keys: int) -> Float[Tensor, "row query key"]:
    """The view [query, key] of [query, offset], whose offsets begin at that of the last query and the first key."""
    rows, queries, width = by_offset.shape
    strides = queries * width, max(1, width - 1), 1
    return by_offset.as_strided((rows, queries, keys), strides, by_offset.storage_offset() + queries - 1)


class _Weights:
    """The weights of one chunk after the other."""

    def __init__(
        self,
        look: Tensor | None,
        query: Tensor | None,
        key: Tensor | None,
        table: Tensor | None,
        value: Tensor,
        scale: float,
    ) -> None:
        self.look, self.query, self.key, self.table, self.scale = look, query, key, table, scale
        self.scores, self.by_offset = _Room(value), _Room(value)

    def of(self, chunk: _Chunk, out: Tensor | None = None) -> Float[Tensor, "row query key"]:
        """Fresh memory, unless there is some for them."""
        block, queries = chunk.block, slice(chunk.block.first, chunk.block.last)
        like = self.look if self.look is not None else self.query
        assert like is not None
        rows = like[chunk.groups, chunk.rows].shape[:2].numel()
        scores = self.scores.of(rows, block.size, block.keys)
        if self.look is not None and self.table is not None:
            look, place = _part(self.look, chunk, queries), 0
            for stretch in block.stretches:
                some = _rows_of(self.table, chunk, stretch)
                keys = stretch.last - stretch.first
                by_offset = self.by_offset.of(len(some), rows * block.size // len(some), some.shape[1])
                torch.bmm(look.reshape(len(some), -1, look.shape[-1]), some.mT, out=by_offset)
                skewed = _skew(by_offset.view(rows, block.size, -1), keys)
                scores[..., place : place + keys].copy_(skewed)
                place += keys
        if self.query is not None and self.key is not None:
            beta = 0 if self.look is None else 1
            torch.baddbmm(
                scores,
                _part(self.query, chunk, queries),
                _keys(self.key, chunk).mT,
                beta=beta,
                alpha=self.scale,
                out=scores,
            )
        if out is None:
            return torch.softmax(scores, -1)
        return torch.softmax(scores, -1, out=out)


class _Blocked(torch.autograd.Function):
    """Groups [group, row, token, dim]; the backward pass makes the weights again that were not kept."""

    @staticmethod
    def forward(
        look: Tensor | None,
        query: Tensor | None,
        key: Tensor | None,
        value: Tensor,
        table: Tensor | None,
        tables: BlockedTables,
        scale: float,
        keep: bool,
    ) -> tuple[Tensor, ...]:
        """What is mixed, and the weights of the first chunks, as many as there is room for."""
        out = torch.empty_like(value)
        room = kept_room(value) if keep else 0
        kept = []
        weights_of, spare = _Weights(look, query, key, table, value, scale), _Room(value)
        for chunk in _chunks(value, tables):
            queries = slice(chunk.block.first, chunk.block.last)
            some = out[chunk.groups, chunk.rows, queries]
            count = some.shape[:2].numel() * chunk.block.size * chunk.block.keys
            room -= count
            memory = (
                None if room >= 0 else spare.of(some.shape[:2].numel(), chunk.block.size, chunk.block.keys)
            )
            weights = weights_of.of(chunk, memory)
            if room >= 0:
                kept.append(weights)
            some.copy_(torch.bmm(weights, _keys(value, chunk)).view(some.shape))
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
        return each_member(_Blocked, info, in_dims, args, outputs=1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, *_: None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return (None,) * 8
        look, query, key, value, table = ctx.saved_tensors
        grad = grad.contiguous()
        exact = torch.float32 if value.dtype.itemsize < 4 else value.dtype  # sums over blocks
        grads = [
            torch.zeros_like(x, dtype=exact) if need else None
            for x, need in zip((look, query, key, value, table), ctx.needs_input_grad, strict=False)
        ]
        grad_look, grad_query, grad_key, grad_value, grad_table = grads
        weights_of = _Weights(look, query, key, table, value, ctx.scale)
        spare, slope, by_offset = _Room(value), _Room(value), _Skewed(value)
        kept, ctx.kept = ctx.kept[::-1], []  # a second backward pass makes all of them again
        for chunk in _chunks(value, ctx.tables):
            block, queries = chunk.block, slice(chunk.block.first, chunk.block.last)
            here = _part(grad, chunk, queries)
            shape = len(here), block.size, block.keys
            weights = kept.pop() if kept else weights_of.of(chunk, spare.of(*shape))
            if grad_value is not None:
                _add_to_keys(grad_value, chunk, weights, here, 1.0)
            scores = torch.bmm(here, _keys(value, chunk).mT, out=slope.of(*shape))
            scores = torch.ops.aten._softmax_backward_data.out(
                scores, weights, -1, weights.dtype, grad_input=scores
            )
            if query is not None and key is not None:
                if grad_query is not None:
                    _add(_part(grad_query, chunk, queries), scores, _keys(key, chunk), ctx.scale)
                if grad_key is not None:
                    _add_to_keys(grad_key, chunk, scores, _part(query, chunk, queries), ctx.scale)
            if look is None or (grad_look is None and grad_table is None):
                continue
            place = 0
            looked = _part(look, chunk, queries)
            for stretch in block.stretches:
                keys = stretch.last - stretch.first
                found = by_offset.of(scores[..., place : place + keys])
                place += keys
                some = _rows_of(table, chunk, stretch)
                found = found.view(len(some), -1, found.shape[-1])
                if grad_table is not None:
                    to = _rows_of(grad_table, chunk, stretch)
                    _add(to, found.mT, looked.reshape(len(some), -1, looked.shape[-1]), 1.0)
                if grad_look is not None and looked.shape[-1] > 1:
                    to = _part(grad_look, chunk, queries)[..., :-1]
                    to += torch.bmm(found, some[..., :-1]).view(to.shape)
        grads = [g if g is None else g.to(value.dtype) for g in grads]
        return *grads, None, None, None


class _Skewed:
    """[query, key] laid out as [query, offset]: what is beside it stays zero."""

    def __init__(self, like: Tensor) -> None:
        self.like = like
        self.kept: dict[tuple[int, ...], Tensor] = {}

    def of(self, scores: Float[Tensor, "row query key"]) -> Float[Tensor, "row query offset"]:
        rows, queries, keys = scores.shape
        shape = rows, queries, keys + queries - 1
        if shape not in self.kept:
            self.kept = {shape: self.like.new_zeros(shape)}
        _skew(self.kept[shape], keys).copy_(scores)
        return self.kept[shape]


def _add(to: Tensor, first: Tensor, second: Tensor, scale: float) -> None:
    """Add a product, in the precision of what it is added to."""
    if to.dtype == first.dtype:
        to.baddbmm_(first, second, alpha=scale)
    else:
        to.add_(torch.bmm(first, second), alpha=scale)


def _add_to_keys(to: Tensor, chunk: _Chunk, scores: Tensor, queries: Tensor, scale: float) -> None:
    place = 0
    for stretch in chunk.block.stretches:
        keys = stretch.last - stretch.first
        _add(
            _part(to, chunk, slice(stretch.first, stretch.last)),
            scores[..., place : place + keys].mT,
            queries,
            scale,
        )
        place += keys
