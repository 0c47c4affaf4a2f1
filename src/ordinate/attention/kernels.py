"""Numeric kernels behind the models, each checked against a slow obvious one in the tests."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable


def positional_layer(
    x: Float[Tensor, "token batch width"],
    weights: Float[Tensor, "head token token"],
    maps: Float[Tensor, "map width hidden"],
    shift: Float[Tensor, " hidden"],
) -> Float[Tensor, "token batch hidden"]:
    """relu(shift + X U_0 + sum_h A_h X U_h): a layer of attention that does not depend on the batch.

    With tokens in front, mixing all samples by all heads is one matrix product [head * token, token] x
    [token, batch * width]; the backward pass is written out, because it accumulates in place what automatic
    differentiation would add up in copies.
    """
    out: Tensor = _PositionalLayer.apply(  # type: ignore[no-untyped-call]
        x[None], weights[None], maps[None], shift[None]
    )[0]
    return out[0]


def content_layer(
    x: Float[Tensor, "batch token width"],
    looks: Float[Tensor, "width look"],
    look_shift: Float[Tensor, " look"],
    maps: Float[Tensor, "map width hidden"],
    shift: Float[Tensor, " hidden"],
) -> Float[Tensor, "batch token hidden"]:
    """relu(shift + X U_0 + sum_h A_h X U_h) with A_h = softmax over keys of (X G_h + g_h) X^T.

    G_h is the product of the query and key maps, so that keys need no map of their own; terms of the scores
    that are equal for all keys cancel in the softmax and are left out.
    """
    batch, token, width = x.shape
    head = maps.shape[0] - 1
    query = (x.reshape(-1, width) @ looks + look_shift).view(batch, token * head, width)
    weights = torch.softmax(query @ x.transpose(1, 2), dim=-1)
    mixed = (weights @ x).view(batch * token, head * width)
    out = torch.addmm(shift, x.reshape(-1, width), maps[0])
    out = torch.addmm(out, mixed, maps[1:].reshape(head * width, -1))
    return torch.relu(out).view(batch, token, -1)


class _PositionalLayer(torch.autograd.Function):
    """The same with a leading axis of ensemble members: every argument is [member, ...]."""

    @staticmethod
    def forward(x: Tensor, weights: Tensor, maps: Tensor, shift: Tensor) -> tuple[Tensor, Tensor]:
        member, token, batch, width = x.shape
        head = weights.shape[1]
        rows = x.reshape(member, token * batch, width)
        mixed = torch.bmm(
            weights.reshape(member, head * token, token), x.reshape(member, token, batch * width)
        ).view(member, head, token * batch, width)
        out = torch.baddbmm(shift[:, None], rows, maps[:, 0])
        for h in range(head):
            out.baddbmm_(mixed[:, h], maps[:, h + 1])
        return out.relu_().view(member, token, batch, maps.shape[-1]), mixed

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
        flat = [
            (a.expand(info.batch_size, *a.shape) if dim is None else a.movedim(dim, 0)).flatten(0, 1)
            for a, dim in zip(args, in_dims, strict=True)
        ]
        outputs = _PositionalLayer.apply(*flat)  # type: ignore[no-untyped-call]
        out, mixed = (o.unflatten(0, (info.batch_size, -1)) for o in outputs)
        return (out, mixed), (0, 0)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, _: None) -> tuple[Tensor | None, ...]:
        if grad is None:
            return None, None, None, None
        x, weights, maps, out, mixed = ctx.saved_tensors
        member, token, batch, width = x.shape
        head = weights.shape[1]
        rows = x.reshape(member, token * batch, width)
        grad = torch.ops.aten.threshold_backward(grad, out, 0).view(member, token * batch, -1)
        grad_maps = torch.empty_like(maps)
        torch.bmm(rows.transpose(1, 2), grad, out=grad_maps[:, 0])
        grad_mixed = torch.empty_like(mixed)
        for h in range(head):
            torch.bmm(mixed[:, h].transpose(1, 2), grad, out=grad_maps[:, h + 1])
            torch.bmm(grad, maps[:, h + 1].transpose(1, 2), out=grad_mixed[:, h])
        grad_mixed = grad_mixed.view(member, head * token, batch * width)
        wide = x.reshape(member, token, batch * width)
        grad_weights = torch.bmm(grad_mixed, wide.transpose(1, 2)).view_as(weights)
        grad_shift = grad.sum(1)
        if not ctx.needs_input_grad[0]:
            return None, grad_weights, grad_maps, grad_shift
        grad_x = torch.bmm(grad, maps[:, 0].transpose(1, 2)).view(member, token, batch * width)
        grad_x.baddbmm_(weights.reshape(member, head * token, token).transpose(1, 2), grad_mixed)
        return grad_x.view_as(x), grad_weights, grad_maps, grad_shift
