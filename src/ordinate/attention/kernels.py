"""Numeric kernels behind the models, each checked against a slow obvious one in the tests."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable


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
