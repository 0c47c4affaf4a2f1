"""Sparse attention over classes of pairs: time and memory grow with tokens x slots, not with tokens squared.

The formula of `dense_attention`, worked out block by block. A slot of a block has one class, so its score is one row
of a product with the class vectors; a run of a slot is a shift between queries and keys, so that keys and values are
read as slices and nothing is looked up. Tokens are the last axis, where slices are long and contiguous.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ordinate.attention.dense import limited, with_plain
from ordinate.attention.kernels import each_member
from ordinate.attention.tables import SparseTables
from ordinate.relations.pattern import Block


def sparse(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    tables: SparseTables,
    vectors: Float[Tensor, "#head cls dim"] | None,
    bias: Float[Tensor, "#head cls"] | None,
    scale: float | int,
) -> Float[Tensor, "batch head token dim_v"]:
    """`sparse_attention` of inputs that were checked, and are finite where a pair is absent."""
    blocks = tables.blocks
    if query is not None:
        query = (query * scale).mT
    dots: Sequence[Tensor | None] = [None] * len(blocks)
    if query is not None and key is not None:
        dots = _Dots.apply(tables, query.contiguous(), key.mT.contiguous())  # type: ignore[no-untyped-call]
    table = None if vectors is None else with_plain(vectors)
    shifts = None if bias is None else with_plain(bias)
    weights = []
    for block, classes, limit, scores in zip(blocks, tables.classes, tables.limits, dots, strict=True):
        terms = [] if scores is None else [scores]
        if table is not None and query is not None:
            terms.append(table.index_select(1, classes) @ query[..., block.first : block.last])
        if shifts is not None:
            width = block.last - block.first
            shift = shifts.index_select(1, classes)[None, :, :, None].expand(-1, -1, -1, width)
            terms.append(shift if terms else shift.clone())
        weights.append(torch.softmax(limited(sum(terms[1:], terms[0]), limit), -2))
    values = value.mT.to(weights[0].dtype).contiguous()  # sums over slots in float32 under autocast
    mixed: Tensor = _Mix.apply(tables, values, *weights)  # type: ignore[no-untyped-call]
    return mixed.mT.to(value.dtype)


def reached(bad: Float[Tensor, "batch head key"], tables: SparseTables) -> Float[Tensor, "batch head query"]:
    """How many of the keys marked by 1 every query attends to."""
    count: Tensor = _Mix.apply(tables, bad[..., None, :], *tables.attended)  # type: ignore[no-untyped-call]
    return count[..., 0, :]


def _slices(block: Block) -> Iterator[tuple[int, slice, slice, slice]]:
    """For every run its slot, its queries inside the block, its queries and its keys."""
    for slot, first, last, shift in block.runs:
        yield (
            slot,
            slice(first - block.first, last - block.first),
            slice(first, last),
            slice(first + shift, last + shift),
        )


class _Mix(torch.autograd.Function):
    """out[d, i] = sum_slot w[slot, i] v[d, key of slot at i]; weights without a batch axis serve all samples."""

    @staticmethod
    def forward(tables: SparseTables, value: Tensor, *weights: Tensor) -> Tensor:
        out = torch.zeros_like(value)
        for block, weight in zip(tables.blocks, weights, strict=True):
            for slot, inside, queries, keys in _slices(block):
                out[..., queries].addcmul_(weight[..., slot, None, inside], value[..., keys])
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.tables = inputs[0]
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        return each_member(_Mix, info, in_dims, args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        value, *weights = ctx.saved_tensors
        grad = grad.contiguous()
        grad_value = torch.zeros_like(value) if ctx.needs_input_grad[1] else None
        grad_weights: list[Tensor | None] = []
        for place, (block, weight) in enumerate(zip(ctx.tables.blocks, weights, strict=True)):
            grad_weight = torch.zeros_like(weight) if ctx.needs_input_grad[2 + place] else None
            for slot, inside, queries, keys in _slices(block):
                if grad_value is not None:
                    grad_value[..., keys].addcmul_(weight[..., slot, None, inside], grad[..., queries])
                if grad_weight is not None:
                    part = grad_weight[..., slot, inside]
                    part.copy_((grad[..., queries] * value[..., keys]).sum(-2).sum_to_size(part.shape))
            grad_weights.append(grad_weight)
        return None, grad_value, *grad_weights


class _Dots(torch.autograd.Function):
    """scores[slot, i] = sum_d q[d, i] k[d, key of slot at i], one tensor for each block; 0 where absent."""

    @staticmethod
    def forward(tables: SparseTables, query: Tensor, key: Tensor) -> tuple[Tensor, ...]:
        scores = []
        for block in tables.blocks:
            score = query.new_zeros(*query.shape[:2], len(block.classes), block.last - block.first)
            for slot, inside, queries, keys in _slices(block):
                score[..., slot, inside] = (query[..., queries] * key[..., keys]).sum(-2)
            scores.append(score)
        return tuple(scores)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.tables = inputs[0]
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        return each_member(_Dots, info, in_dims, args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        query, key = ctx.saved_tensors
        grad_query, grad_key = torch.zeros_like(query), torch.zeros_like(key)
        for block, grad in zip(ctx.tables.blocks, grads, strict=True):
            for slot, inside, queries, keys in _slices(block):
                part = grad[..., slot, None, inside]
                grad_query[..., queries].addcmul_(part, key[..., keys])
                grad_key[..., keys].addcmul_(part, query[..., queries])
        return None, grad_query, grad_key
