"""`od.Attention` inside of `torch.compile`: one operator, `ordinate::attention`, that a graph holds as it is.

What is asked of positions is Python, and its answers are kept; a compiler that followed it would find numpy. So the
graph holds tensors, and the names of the layer and of its layouts; when the operator runs, it calls the layer as ever,
with all its kernels. The backward pass is an operator too, which calls the layer again: no activations are kept.

An operator takes lists of tensors and text alone. `tensors` are the seed of dropped weights, those that a call may
bring, as far as they are there, and all parameters; `how` is a `How` in words.
"""

from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.func import functional_call

from ordinate.coordinates import HANDLES
from ordinate.errors import OrdinateError

BROUGHT = ("x", "keys", "values", "key_padding_mask", "attn_mask")
"""Tensors of a call."""


class How(NamedTuple):
    """What a call says besides its tensors, as words without spaces."""

    layer: str
    layout: str
    memory_layout: str
    there: str
    """One digit for each of `BROUGHT`: 1 where the call has it."""
    flags: str
    """One digit each: is_causal, need_weights, whether the layer trains."""
    autocast: str
    """The precision that autocast asks for."""

    @classmethod
    def of(cls, words: str) -> "How":
        """From the words of a graph, one after another."""
        return cls(*words.split(" "))

    @property
    def module(self) -> Any:
        """The layer, an `od.Attention`."""
        return _find(self.layer)

    @property
    def need_weights(self) -> bool:
        """Whether weights are returned."""
        return self.flags[1] == "1"

    def read(self, tensors: list[Tensor]) -> tuple[Tensor, dict[str, Tensor | None], list[Tensor]]:
        """The seed, what the call brought, and the parameters."""
        seed, *rest = tensors
        given = iter(rest)
        brought = {
            name: next(given) if there == "1" else None
            for name, there in zip(BROUGHT, self.there, strict=True)
        }
        return seed, brought, list(given)


def _find(handle: str) -> Any:
    if handle not in HANDLES:
        raise OrdinateError(
            f"a compiled graph looks for {handle}, which is gone: compile the model again, and keep its layouts"
        )
    return HANDLES[handle]


@torch.library.custom_op("ordinate::attention", mutates_args=())
def attention_operator(tensors: list[Tensor], how: str) -> tuple[Tensor, Tensor]:
    """The output and the weights, which are empty unless asked for."""
    return _call(tensors, How.of(how))


def _call(tensors: list[Tensor], how: How) -> tuple[Tensor, Tensor]:
    module, (seed, brought, parameters) = how.module, how.read(tensors)
    x, keys, values, key_padding_mask, attn_mask = (brought[name] for name in BROUGHT)
    assert x is not None
    kind, training = x.device.type, how.flags[2] == "1"
    reduced = torch.autocast(kind, getattr(torch, how.autocast)) if how.autocast else nullcontext()
    drawn = torch.random.fork_rng(device_type=kind) if kind != "cpu" else torch.random.fork_rng(devices=())
    was, module.heads.training = module.heads.training, training
    try:
        with reduced, drawn:
            if training and module.heads.options.dropout:
                torch.manual_seed(int(seed))
            found = functional_call(
                module,
                dict(zip((name for name, _ in module.named_parameters()), parameters, strict=True)),
                (x, _find(how.layout) if how.layout else None),
                {
                    "memory": None if keys is None or values is None else (keys, values),
                    "memory_layout": _find(how.memory_layout) if how.memory_layout else None,
                    "key_padding_mask": key_padding_mask,
                    "attn_mask": attn_mask,
                    "is_causal": how.flags[0] == "1",
                    "need_weights": how.need_weights,
                },
            )
    finally:
        module.heads.training = was
    out, weights = found if how.need_weights else (found, x.new_empty(0))
    return out.contiguous(), weights.contiguous()


@attention_operator.register_fake
def _(tensors: list[Tensor], how: str) -> tuple[Tensor, Tensor]:
    said = How.of(how)
    brought = said.read(tensors)[1]
    x, keys = brought["x"], brought["keys"]
    assert x is not None
    dtype = getattr(torch, said.autocast) if said.autocast else x.dtype
    out = x.new_empty(x.shape, dtype=dtype)
    if not said.need_weights:
        return out, x.new_empty(0)
    tokens = (x if keys is None else keys).shape[1]
    return out, x.new_empty(len(x), said.module.heads.heads, x.shape[1], tokens, dtype=dtype)


@torch.library.custom_op("ordinate::attention_backward", mutates_args=())
def attention_backward(
    gradient: Tensor, weights_gradient: Tensor, tensors: list[Tensor], how: str
) -> list[Tensor]:
    """Gradients of all tensors that have numbers with a fraction, the seed's not among them."""
    with torch.enable_grad(), _recording():
        again = [t.detach().requires_grad_() if t.is_floating_point() else t for t in tensors]
        out, weights = _call(again, How.of(how))
        outputs, gradients = [out], [gradient]
        if weights.requires_grad:
            outputs, gradients = [out, weights], [gradient, weights_gradient]
        learnt = [t for t in again[1:] if t.is_floating_point()]
        found = torch.autograd.grad(outputs, learnt, gradients, allow_unused=True)
    return [torch.zeros_like(t) if g is None else g.contiguous() for g, t in zip(found, learnt, strict=True)]


def _recording() -> Any:
    """Operators are called where nothing is recorded for a backward pass; here it is."""
    keys = torch._C
    left_out = keys._dispatch_tls_local_exclude_set().remove(keys.DispatchKey.AutogradFunctionality)
    return keys._ForceDispatchKeyGuard(keys._dispatch_tls_local_include_set(), left_out)


@attention_backward.register_fake
def _(gradient: Tensor, weights_gradient: Tensor, tensors: list[Tensor], how: str) -> list[Tensor]:
    return [torch.empty_like(t) for t in tensors[1:] if t.is_floating_point()]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    tensors, ctx.how = inputs
    ctx.save_for_backward(*tensors)


def _gradients(ctx: Any, gradient: Tensor, weights_gradient: Tensor) -> tuple[list[Tensor | None], None]:
    tensors = list(ctx.saved_tensors)
    found = iter(attention_backward(gradient, weights_gradient, tensors, ctx.how))
    return [None, *(next(found) if t.is_floating_point() else None for t in tensors[1:])], None


attention_operator.register_autograd(_gradients, setup_context=_keep)
