"""Numeric kernels behind the models, each checked against a slow obvious one in the tests; and what kernels share."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable


def autocast_dtype(x: Tensor) -> torch.dtype:
    """What products with x are computed in: as autocast says on its device, or as it is."""
    device = x.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        return torch.get_autocast_dtype(device)
    return x.dtype


def without_autocast(x: Tensor) -> AbstractContextManager[Any]:
    """Inside, operations on the device of x compute in the precision of what they are given."""
    device = x.device.type
    available = torch.amp.is_autocast_available(device)
    return torch.autocast(device, enabled=False) if available else nullcontext()


def each_member(
    function: type[torch.autograd.Function],
    info: Any,
    in_dims: tuple[int | None, ...],
    args: tuple[Any, ...],
    outputs: int | None = None,
) -> tuple[Any, Any]:
    """`torch.vmap` of a function: one call for each member of an ensemble, stacked.

    Of several outputs only the first `outputs` are, where others serve the backward pass of a call alone.
    """
    calls = [
        function.apply(
            *(a if dim is None else a.select(dim, k) for a, dim in zip(args, in_dims, strict=True))
        )
        for k in range(info.batch_size)
    ]
    if not isinstance(calls[0], tuple):
        return torch.stack(calls), 0
    stacked = tuple(torch.stack(parts) for parts in zip(*(call[:outputs] for call in calls), strict=True))
    return stacked, (0,) * len(stacked)


def positional_layer(
    x: Float[Tensor, "token batch width"],
    weights: Float[Tensor, "head query token"],
    maps: Float[Tensor, "map width hidden"],
    shift: Float[Tensor, " hidden"],
) -> Float[Tensor, "query batch hidden"]:
    """relu(shift + X U_0 + sum_h A_h X U_h): a layer of attention that does not depend on the batch.

    Queries are the first tokens, all of them or fewer. With tokens in front, mixing all samples by all heads is one
    matrix product [head * query, token] x [token, batch * width].
    """
    head, query, token = weights.shape
    batch, width = x.shape[1:]
    if width * len(maps) > maps.shape[-1]:
        out: Tensor = _PositionalLayer.apply(  # type: ignore[no-untyped-call]
            x[None], weights[None], maps[None], shift[None]
        )[0]
        return out[0]
    # Few features, as in the first layer: all maps in one product.
    mixed = (weights.reshape(-1, token) @ x.reshape(token, -1)).view(head, query, batch, width)
    features = torch.cat([x[None, :query], mixed]).permute(1, 2, 0, 3).reshape(query * batch, -1)
    return torch.relu(torch.addmm(shift, features, maps.flatten(0, 1))).view(query, batch, -1)


def content_layer(
    x: Float[Tensor, "batch token width"],
    looks: Float[Tensor, "width look"],
    look_shift: Float[Tensor, " look"],
    maps: Float[Tensor, "map width hidden"],
    shift: Float[Tensor, " hidden"],
) -> Float[Tensor, "batch token hidden"]:
    """relu(shift + X U_0 + sum_h A_h X U_h) with A_h = softmax over keys of (X G_h + g_h) X^T.

    G_h is the product of the query and key maps, so that keys need no map of their own; terms of the scores
    that are equal for all keys cancel in the softmax and are left out. Scores have their keys in front of queries: a
    softmax over a last axis that is shorter than a vector of the processor takes its numbers one by one.
    """
    arguments = (part[None] for part in (x, looks, look_shift, maps, shift))
    out: Tensor = _ContentLayer.apply(*arguments)[0]  # type: ignore[no-untyped-call]
    return out[0]


class _PositionalLayer(torch.autograd.Function):
    """The same with a leading axis of ensemble members: every argument is [member, ...].

    The backward pass is written out, because it accumulates in place what automatic differentiation would add up
    in copies.
    """

    @staticmethod
    def forward(x: Tensor, weights: Tensor, maps: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
        member, token, batch, width = x.shape
        head, query = weights.shape[1:3]
        mixed = torch.bmm(
            weights.reshape(member, head * query, token), x.reshape(member, token, batch * width)
        ).view(member, head, query * batch, width)
        out = torch.baddbmm(shift[:, None], x[:, :query].flatten(1, 2), maps[:, 0])
        for h in range(head):
            out.baddbmm_(mixed[:, h], maps[:, h + 1])
        return out.relu_().view(member, query, batch, maps.shape[-1]), mixed

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        x, weights, maps, _ = inputs
        out, mixed = output
        ctx.mark_non_differentiable(mixed)
        ctx.set_materialize_grads(False)  # no zeros for `mixed`, which nobody differentiates
        ctx.save_for_backward(x, weights, maps, out, mixed)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], *args: Tensor
    ) -> tuple[tuple[Tensor, Tensor], tuple[int, int]]:
        """Under `torch.vmap` the mapped axis joins the axis of members."""
        out, mixed = _joined(_PositionalLayer, info, in_dims, args)
        return (out, mixed), (0, 0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, _: None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return None, None, None, None
        x, weights, maps, out, mixed = ctx.saved_tensors
        member, token, batch, width = x.shape
        head, query = weights.shape[1:3]
        grad = torch.ops.aten.threshold_backward(grad, out, 0).view(member, query * batch, -1)
        grad_maps = torch.empty_like(maps)
        torch.bmm(x[:, :query].flatten(1, 2).transpose(1, 2), grad, out=grad_maps[:, 0])
        grad_mixed = torch.empty_like(mixed)
        for h in range(head):
            torch.bmm(mixed[:, h].transpose(1, 2), grad, out=grad_maps[:, h + 1])
            torch.bmm(grad, maps[:, h + 1].transpose(1, 2), out=grad_mixed[:, h])
        grad_mixed = grad_mixed.view(member, head * query, batch * width)
        wide = x.reshape(member, token, batch * width)
        grad_weights = torch.bmm(grad_mixed, wide.transpose(1, 2)).view_as(weights)
        grad_shift = grad.sum(1)
        if not ctx.needs_input_grad[0]:
            return None, grad_weights, grad_maps, grad_shift
        mixing = weights.reshape(member, head * query, token).transpose(1, 2)
        grad_x = torch.bmm(mixing, grad_mixed).view_as(x)
        grad_x[:, :query].flatten(1, 2).baddbmm_(grad, maps[:, 0].transpose(1, 2))
        return grad_x, grad_weights, grad_maps, grad_shift


class _ContentLayer(torch.autograd.Function):
    """`content_layer` with a leading axis of members, and its backward pass written out, for the same reason."""

    @staticmethod
    def forward(
        x: Tensor, looks: Tensor, look_shift: Tensor, maps: Tensor, shift: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        member, batch, token, width = x.shape
        rows, each = x.reshape(member, batch * token, width), x.reshape(member * batch, token, width)
        query = torch.baddbmm(look_shift[:, None], rows, looks).view(member * batch, -1, width)
        weights = torch.softmax(torch.bmm(each, query.transpose(1, 2)), 1)
        mixed = torch.bmm(weights.transpose(1, 2), each).view(member, batch * token, -1)
        out = torch.baddbmm(shift[:, None], rows, maps[:, 0])
        out.baddbmm_(mixed, maps[:, 1:].flatten(1, 2))
        return out.relu_().view(member, batch, token, -1), query, weights, mixed

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        x, looks, _, maps, _ = inputs
        out, *inner = output
        ctx.mark_non_differentiable(*inner)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, looks, maps, out, *inner)

    @staticmethod
    def vmap(
        info: Any, in_dims: tuple[int | None, ...], *args: Tensor
    ) -> tuple[tuple[Tensor, ...], tuple[int, ...]]:
        """Under `torch.vmap` the mapped axis joins the axis of members."""
        return _joined(_ContentLayer, info, in_dims, args), (0, 0, 0, 0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, *_: None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return None, None, None, None, None
        x, looks, maps, out, query, weights, mixed = ctx.saved_tensors
        member, batch, token, width = x.shape
        rows, each = x.reshape(member, batch * token, width), x.reshape(member * batch, token, width)
        grad = torch.ops.aten.threshold_backward(grad, out, 0).view(member, batch * token, -1)
        grad_maps = torch.empty_like(maps)
        torch.bmm(rows.transpose(1, 2), grad, out=grad_maps[:, 0])
        torch.bmm(mixed.transpose(1, 2), grad, out=grad_maps[:, 1:].flatten(1, 2))
        grad_mixed = torch.bmm(grad, maps[:, 1:].flatten(1, 2).transpose(1, 2)).view_as(query)
        grad_weights = torch.bmm(each, grad_mixed.transpose(1, 2))
        grad_scores = torch.ops.aten._softmax_backward_data(grad_weights, weights, 1, weights.dtype)
        grad_query = torch.bmm(grad_scores.transpose(1, 2), each).view(member, batch * token, -1)
        grad_looks = torch.bmm(rows.transpose(1, 2), grad_query)
        grad_shift, grad_look_shift = grad.sum(1), grad_query.sum(1)
        if not ctx.needs_input_grad[0]:
            return None, grad_looks, grad_look_shift, grad_maps, grad_shift
        grad_x = torch.bmm(grad, maps[:, 0].transpose(1, 2))
        grad_x.baddbmm_(grad_query, looks.transpose(1, 2))
        grad_each = grad_x.view_as(each)
        grad_each.baddbmm_(weights, grad_mixed).baddbmm_(grad_scores, query)
        return grad_x.view_as(x), grad_looks, grad_look_shift, grad_maps, grad_shift


def _joined(
    layer: type[torch.autograd.Function], info: Any, in_dims: tuple[int | None, ...], args: tuple[Tensor, ...]
) -> tuple[Tensor, ...]:
    """What a layer gives when the axis that `torch.vmap` maps is part of the axis of members."""
    flat = [
        (a.expand(info.batch_size, *a.shape) if dim is None else a.movedim(dim, 0)).flatten(0, 1)
        for a, dim in zip(args, in_dims, strict=True)
    ]
    outputs = layer.apply(*flat)
    return tuple(o.unflatten(0, (info.batch_size, -1)) for o in outputs)
