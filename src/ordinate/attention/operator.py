"""`od.Attention` inside of `torch.compile`: one operator, `ordinate::attention`, that a graph holds as it is.

What is asked of positions is Python, and its answers are kept; a compiler that followed it would find numpy. So the
graph holds tensors, and the names of the layer and of its layouts; when the operator runs, it calls the layer as ever,
with all its kernels. The backward pass is an operator too, which calls the layer again: no activations are kept.
"""

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call

from ordinate.coordinates import HANDLES
from ordinate.errors import OrdinateError


@torch.library.custom_op("ordinate::attention", mutates_args=())
def attention_operator(
    parameters: list[Tensor],
    x: Tensor,
    keys: Tensor | None,
    values: Tensor | None,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    seed: Tensor,
    layer: str,
    layout: str,
    memory_layout: str,
    is_causal: bool,
    need_weights: bool,
    training: bool,
    autocast: str,
) -> tuple[Tensor, Tensor]:
    """The output and the weights, which are empty unless asked for; dropped weights are drawn from the seed."""
    arguments = (layer, layout, memory_layout, is_causal, need_weights, training, autocast)
    return _call(parameters, x, keys, values, key_padding_mask, attn_mask, seed, *arguments)


def _call(
    parameters: list[Tensor],
    x: Tensor,
    keys: Tensor | None,
    values: Tensor | None,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    seed: Tensor,
    layer: str,
    layout: str,
    memory_layout: str,
    is_causal: bool,
    need_weights: bool,
    training: bool,
    autocast: str,
) -> tuple[Tensor, Tensor]:
    module: Any = _find(layer)
    names = [name for name, _ in module.named_parameters()]
    kind = x.device.type
    reduced = torch.autocast(kind, getattr(torch, autocast)) if autocast else nullcontext()
    drawn = torch.random.fork_rng(device_type=kind) if kind != "cpu" else torch.random.fork_rng(devices=())
    was, module.heads.training = module.heads.training, training
    try:
        with reduced, drawn:
            if training and module.heads.options.dropout:
                torch.manual_seed(int(seed))
            found = functional_call(
                module,
                dict(zip(names, parameters, strict=True)),
                (x, _find(layout) if layout else None),
                {
                    "memory": None if keys is None or values is None else (keys, values),
                    "memory_layout": _find(memory_layout) if memory_layout else None,
                    "key_padding_mask": key_padding_mask,
                    "attn_mask": attn_mask,
                    "is_causal": is_causal,
                    "need_weights": need_weights,
                },
            )
    finally:
        module.heads.training = was
    out, weights = found if need_weights else (found, x.new_empty(0))
    return out.contiguous(), weights.contiguous()


def _find(handle: str) -> Any:
    if handle not in HANDLES:
        raise OrdinateError(
            f"a compiled graph looks for {handle}, which is gone: compile the model again, and keep its layouts"
        )
    return HANDLES[handle]


@attention_operator.register_fake
def _(
    parameters: list[Tensor],
    x: Tensor,
    keys: Tensor | None,
    values: Tensor | None,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    seed: Tensor,
    layer: str,
    layout: str,
    memory_layout: str,
    is_causal: bool,
    need_weights: bool,
    training: bool,
    autocast: str,
) -> tuple[Tensor, Tensor]:
    dtype = getattr(torch, autocast) if autocast else x.dtype
    if not need_weights:
        return x.new_empty(x.shape, dtype=dtype), x.new_empty(0)
    tokens = (x if keys is None else keys).shape[1]
    heads = _find(layer).heads.heads
    return x.new_empty(x.shape, dtype=dtype), x.new_empty(len(x), heads, x.shape[1], tokens, dtype=dtype)


@torch.library.custom_op("ordinate::attention_backward", mutates_args=())
def _backward(
    gradient: Tensor,
    weights_gradient: Tensor,
    parameters: list[Tensor],
    x: Tensor,
    keys: Tensor | None,
    values: Tensor | None,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    seed: Tensor,
    layer: str,
    layout: str,
    memory_layout: str,
    is_causal: bool,
    need_weights: bool,
    training: bool,
    autocast: str,
) -> list[Tensor]:
    """Gradients of what `_learnt` lists."""
    learnt = _learnt(parameters, x, keys, values, attn_mask)
    with torch.enable_grad(), _gradients_again():
        fresh = [tensor.detach().requires_grad_() for tensor in learnt]
        again = iter(fresh)
        x, keys, values = next(again), *(None if one is None else next(again) for one in (keys, values))
        mask = next(again) if attn_mask is not None and attn_mask.is_floating_point() else attn_mask
        arguments = (layer, layout, memory_layout, is_causal, need_weights, training, autocast)
        out, weights = _call(list(again), x, keys, values, key_padding_mask, mask, seed, *arguments)
        outputs, gradients = [out], [gradient]
        if weights.requires_grad:
            outputs, gradients = [out, weights], [gradient, weights_gradient]
        found = torch.autograd.grad(outputs, fresh, gradients, allow_unused=True)
    return [torch.zeros_like(t) if g is None else g.contiguous() for g, t in zip(found, learnt, strict=True)]


def _gradients_again() -> Any:
    """Operators are called where nothing is recorded for a backward pass; here it is."""
    keys = torch._C
    left_out = keys._dispatch_tls_local_exclude_set().remove(keys.DispatchKey.AutogradFunctionality)
    return keys._ForceDispatchKeyGuard(keys._dispatch_tls_local_include_set(), left_out)


def _learnt(
    parameters: list[Tensor], x: Tensor, keys: Tensor | None, values: Tensor | None, attn_mask: Tensor | None
) -> list[Tensor]:
    """The tensors that there are gradients of, in the order in which `_backward` returns them."""
    mask = attn_mask if attn_mask is not None and attn_mask.is_floating_point() else None
    return [tensor for tensor in (x, keys, values, mask) if tensor is not None] + list(parameters)


@_backward.register_fake
def _(
    gradient: Tensor,
    weights_gradient: Tensor,
    parameters: list[Tensor],
    x: Tensor,
    keys: Tensor | None,
    values: Tensor | None,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    seed: Tensor,
    layer: str,
    layout: str,
    memory_layout: str,
    is_causal: bool,
    need_weights: bool,
    training: bool,
    autocast: str,
) -> list[Tensor]:
    return [torch.empty_like(tensor) for tensor in _learnt(parameters, x, keys, values, attn_mask)]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    parameters, *rest = inputs
    ctx.count, ctx.rest = len(parameters), [one if not isinstance(one, Tensor) else None for one in rest]
    ctx.places = [place for place, one in enumerate(rest) if isinstance(one, Tensor)]
    ctx.save_for_backward(*parameters, *(rest[place] for place in ctx.places))


def _gradients(ctx: Any, gradient: Tensor, weights_gradient: Tensor) -> tuple[Any, ...]:
    saved = list(ctx.saved_tensors)
    parameters, rest = saved[: ctx.count], list(ctx.rest)
    for place, tensor in zip(ctx.places, saved[ctx.count :], strict=True):
        rest[place] = tensor
    x, keys, values, _, attn_mask = rest[:5]
    found = iter(_backward(gradient, weights_gradient, parameters, *rest))
    learnt: list[Any] = [None if one is None else next(found) for one in (x, keys, values)]
    mask = next(found) if attn_mask is not None and attn_mask.is_floating_point() else None
    return (list(found), *learnt, None, mask, *[None] * (len(rest) - 5))


attention_operator.register_autograd(_gradients, setup_context=_keep)
