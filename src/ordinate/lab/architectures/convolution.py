"""Causal convolution by FFT: the product with a lower triangular Toeplitz matrix in n log n."""

from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import FunctionCtx, once_differentiable

from ordinate.attention.kernels import each_member

AT_ONCE = 2**18
"""Numbers that are transformed in one call: more of them leave the cache, and each costs twice as much."""


def causal_convolutions(
    kernels: Float[Tensor, "kernel token"], x: Float[Tensor, "*batch token"]
) -> Float[Tensor, "*batch kernel token"]:
    """y_t = sum_{s <= t} kernel_s x_{t-s} for every sequence with every kernel; zero before the first token.

    Both are padded to twice the length, so that nothing comes round the circle. A sequence is transformed once, however
    many kernels it meets; kernels are gone through some at a time, and their gradients are summed up before they are
    transformed back.

    >>> kernels = torch.tensor([[1.0, 0.5, 0.0], [1.0, 1.0, 1.0]])
    >>> causal_convolutions(kernels, torch.tensor([2.0, 0.0, 4.0])).round(decimals=5).tolist()
    [[2.0, 1.0, 4.0], [2.0, 2.0, 6.0]]
    """
    rows = x.reshape(-1, x.shape[-1])
    found: Tensor = _Convolutions.apply(kernels, rows)[0]  # type: ignore[no-untyped-call]
    return found.view(*x.shape[:-1], *kernels.shape)


class _Convolutions(torch.autograd.Function):
    """Kernels [kernel, token] and rows [row, token] to [row, kernel, token], and the two transforms."""

    @staticmethod
    def forward(kernels: Tensor, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        tokens = x.shape[-1]
        size = fast_size(2 * tokens - 1)
        over_kernels, over_x = torch.fft.rfft(kernels, n=size), torch.fft.rfft(x, n=size)
        out = x.new_empty(len(x), len(kernels), tokens)
        for some in _parts(len(kernels), len(x) * size):
            product = over_kernels[some] * over_x[:, None]
            out[:, some] = torch.fft.irfft(product, n=size)[..., :tokens]
        return out, over_kernels, over_x

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Any, ...], output: tuple[Tensor, ...]) -> None:
        _, over_kernels, over_x = output
        ctx.mark_non_differentiable(over_kernels, over_x)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(over_kernels, over_x)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> tuple[Any, Any]:
        return each_member(_Convolutions, info, in_dims, args)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor | None, *_: None) -> tuple[Tensor | None, Tensor | None]:
        if grad is None:
            return None, None
        over_kernels, over_x = ctx.saved_tensors
        tokens = grad.shape[-1]
        size = fast_size(2 * tokens - 1)
        to_kernels, to_x = torch.empty_like(over_kernels), torch.zeros_like(over_x)
        for some in _parts(len(over_kernels), len(over_x) * size):
            over_grad = torch.fft.rfft(grad[:, some], n=size)
            if ctx.needs_input_grad[1]:
                to_x += (over_grad * over_kernels[some].conj()).sum(1)
            if ctx.needs_input_grad[0]:
                to_kernels[some] = (over_grad * over_x[:, None].conj()).sum(0)
        # A correlation: what lies behind the tokens belongs to lags that no token has.
        grad_kernels, grad_x = (
            torch.fft.irfft(over, n=size)[..., :tokens] if needed else None
            for over, needed in zip((to_kernels, to_x), ctx.needs_input_grad, strict=True)
        )
        return grad_kernels, grad_x


def _parts(kernels: int, numbers: int) -> list[slice]:
    """Kernels to go through at once, where each needs so many numbers."""
    some = max(1, AT_ONCE // numbers)
    return [slice(first, first + some) for first in range(0, kernels, some)]


@lru_cache(maxsize=256)
def fast_size(least: int) -> int:
    """The smallest product of powers of 2, 3 and 5 that is not below `least`: transforms of such sizes are fast.

    >>> [fast_size(least) for least in (1, 7, 31, 131_071)]
    [1, 8, 32, 131072]
    """
    best = 1 << (least - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            rest = -(-least // three)
            best = min(best, three << (rest - 1).bit_length())
            three *= 3
        five *= 5
    return best
