"""Sparse attention over classes of pairs: time and memory grow with tokens x slots, not with tokens squared.

The same formula as `pairwise`, worked out block by block. A slot of a block has one class, so its score is one row
of a product with the class vectors; a run of a slot is a shift between queries and keys, so that keys and values are
read as slices and nothing is looked up. Tokens are the last axis, where slices are long and contiguous.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from ordinate.attention.layout import check, with_plain
from ordinate.attention.members import map_members
from ordinate.relations.pattern import Block, Pattern

_MASKS: "WeakKeyDictionary[Pattern, tuple[Tensor | None, ...]]" = WeakKeyDictionary()


def sparse_attention(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """score_ij = scale (q_i . k_j + q_i . a_c) + b_c with c = class(i, j); out_i = sum_j softmax_j(score)_ij v_j.

    The arguments are those of `dense_attention`, and so is the result.

    >>> query, key = torch.tensor([0, 1, 1, 2, 2]), torch.tensor([0, 0, 1, 1, 2])
    >>> back = Pattern(3, 2, query, key, query - key, (0, 3))  # the token itself, and the one before
    >>> value = torch.tensor([1.0, 2.0, 4.0]).view(1, 1, 3, 1)
    >>> sparse_attention(None, None, value, back, bias=torch.zeros(1, 2)).flatten()
    tensor([1.0000, 1.5000, 3.0000])
    """
    check(pattern, query, key, value, (vectors, bias))
    blocks = _blocks(pattern)
    if query is not None:
        query = (query * scale).mT
    dots: Sequence[Tensor | None] = [None] * len(blocks)
    if query is not None and key is not None:
        dots = _Dots.apply(pattern, query.contiguous(), key.mT.contiguous())  # type: ignore[no-untyped-call]
    table = None if vectors is None else with_plain(vectors)
    shifts = None if bias is None else with_plain(bias)
    weights = []
    for block, mask, scores in zip(blocks, _masks(pattern), dots, strict=True):
        classes = torch.tensor(block.classes)
        terms = [] if scores is None else [scores]
        if table is not None and query is not None:
            terms.append(table.index_select(1, classes) @ query[..., block.first : block.last])
        if shifts is not None:
            width = block.last - block.first
            terms.append(shifts.index_select(1, classes)[None, :, :, None].expand(-1, -1, -1, width))
        if mask is not None:
            terms.append(mask.to(value.dtype))
        weights.append(torch.softmax(sum(terms[1:], terms[0]), -2))
    values = value.mT.to(weights[0].dtype).contiguous()  # sums over slots in float32 under autocast
    mixed: Tensor = _Mix.apply(pattern, values, *weights)  # type: ignore[no-untyped-call]
    return mixed.mT.to(value.dtype)


def _blocks(pattern: Pattern) -> tuple[Block, ...]:
    return tuple(block for block in pattern.blocks if block.last > block.first)


@torch.inference_mode(False)
def _masks(pattern: Pattern) -> tuple[Tensor | None, ...]:
    """For every block 0 where a slot has a key and minus infinity where not, [slot, query]; None where all have."""
    if pattern not in _MASKS:
        _MASKS[pattern] = tuple(_mask(block) for block in _blocks(pattern))
    return _MASKS[pattern]


def _mask(block: Block) -> Float[Tensor, "slot query"] | None:
    mask = torch.full((len(block.classes), block.last - block.first), float("-inf"))
    for run in block.runs:
        mask[run.slot, run.first - block.first : run.last - block.first] = 0.0
    return mask if bool(mask.isinf().any()) else None


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
    def forward(pattern: Pattern, value: Tensor, *weights: Tensor) -> Tensor:
        out = torch.zeros_like(value)
        for block, weight in zip(_blocks(pattern), weights, strict=True):
            for slot, inside, queries, keys in _slices(block):
                out[..., queries].addcmul_(weight[..., slot, None, inside], value[..., keys])
        return out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.pattern = inputs[0]
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        """One call for each member."""
        return map_members(_Mix, info, in_dims, args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        value, *weights = ctx.saved_tensors
        grad = grad.contiguous()
        grad_value = torch.zeros_like(value) if ctx.needs_input_grad[1] else None
        grad_weights: list[Tensor | None] = []
        for place, (block, weight) in enumerate(zip(_blocks(ctx.pattern), weights, strict=True)):
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
    def forward(pattern: Pattern, query: Tensor, key: Tensor) -> tuple[Tensor, ...]:
        scores = []
        for block in _blocks(pattern):
            score = query.new_zeros(*query.shape[:2], len(block.classes), block.last - block.first)
            for slot, inside, queries, keys in _slices(block):
                score[..., slot, inside] = (query[..., queries] * key[..., keys]).sum(-2)
            scores.append(score)
        return tuple(scores)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        ctx.pattern = inputs[0]
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        """One call for each member."""
        return map_members(_Dots, info, in_dims, args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        query, key = ctx.saved_tensors
        grad_query, grad_key = torch.zeros_like(query), torch.zeros_like(key)
        for block, grad in zip(_blocks(ctx.pattern), grads, strict=True):
            for slot, inside, queries, keys in _slices(block):
                part = grad[..., slot, None, inside]
                grad_query[..., queries].addcmul_(part, key[..., keys])
                grad_key[..., keys].addcmul_(part, query[..., queries])
        return None, grad_query, grad_key
