"""Causal convolution by FFT: the product with a lower triangular Toeplitz matrix in n log n."""

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor


def causal_convolution(
    kernel: Float[Tensor, "*#batch token"], x: Float[Tensor, "*#batch token"]
) -> Float[Tensor, "*batch token"]:
    """y_t = sum_{s <= t} kernel_s x_{t-s} along the last axis; what is before the first token is zero.

    Both are padded to twice the length, so that nothing comes round the circle. Leading axes are broadcast after the
    transforms: a sequence that meets many kernels is transformed once.

    >>> causal_convolution(torch.tensor([1.0, 0.5, 0.0]), torch.tensor([2.0, 0.0, 4.0])).round(decimals=5).tolist()
    [2.0, 1.0, 4.0]
    """
    tokens = x.shape[-1]
    size = fast_size(2 * tokens - 1)
    product = torch.fft.rfft(kernel, n=size) * torch.fft.rfft(x, n=size)
    found: Tensor = torch.fft.irfft(product, n=size)
    return found[..., :tokens]


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
