"""Causal attention by the lag alone: a convolution a head, by FFT where that is faster than laying out the pairs."""

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention.convolution import causal_convolutions
from ordinate.attention.decay import decay_attention
from ordinate.encodings.helpers import by_lag

# Tokens from which on transforms are faster, fitted by eye to the time of forward and backward passes in float32 on one
# core: with 4, 64, 256, 400 and 1024 features of all samples both took equally long at about 60, 85, 110, 160 and 210
# tokens with 4 heads or more, and at about 150 to 200 with one.
FEWEST = 96
FEATURES = 8
MOST_FEATURES = 1024


def lag_attention(
    x: Float[Tensor, "batch token width"], lags: Float[Tensor, "head token"], *, normalised: bool
) -> Float[Tensor, "batch head token width"]:
    """sum_s w_s x_{t-s}, w_s = e^{lags_s}, over sum_{s <= t} w_s where `normalised`; dense or by FFT, by the shape.

    >>> x = torch.tensor([[[1.0], [0.0], [4.0]]])
    >>> lag_attention(x, torch.tensor([[float("-inf"), 0.0, 0.0]]), normalised=True).flatten().tolist()
    [0.0, 1.0, 0.5]
    """
    if by_transform(x):
        return toeplitz_attention(x, lags, normalised=normalised)
    return decay_attention(x, by_lag(lags)[None], normalised=normalised)


def toeplitz_attention(
    x: Float[Tensor, "batch token width"], lags: Float[Tensor, "head token"], *, normalised: bool
) -> Float[Tensor, "batch head token width"]:
    """The same by FFT: n log n for each head and feature, and no pair is laid out.

    Half precisions are computed in float32, since transforms know no others.
    """
    dtype = x.dtype
    with torch.autocast(x.device.type, enabled=False):
        if dtype in (torch.bfloat16, torch.float16):
            x, lags = x.float(), lags.float()
        if normalised:  # a common factor cancels: the largest weight is made 1
            lags = lags - lags.detach().amax(-1, keepdim=True).clamp(min=torch.finfo(lags.dtype).min)
        kernel = lags.exp()
        mixed = causal_convolutions(kernel, x.transpose(1, 2))
        if normalised:
            total = kernel.cumsum(-1)
            there = total > 0  # no weight at all up to here: no key, which gives 0
            mixed = mixed * torch.where(there, 1 / torch.where(there, total, 1.0), 0.0)
    return mixed.permute(0, 2, 3, 1).to(dtype)


def by_transform(x: Float[Tensor, "batch token width"]) -> bool:
    """Whether transforms are faster for this shape."""
    features = min(x.shape[0] * x.shape[2], MOST_FEATURES)
    return x.shape[1] >= FEWEST + features // FEATURES
