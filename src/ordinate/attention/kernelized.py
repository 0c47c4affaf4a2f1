"""Kernelized attention with a relative bias (Luo et al. 2021, arXiv 2106.12566), causal: dense, and by FFT.

    out_t = sum_{s <= t} c_{t-s} <phi(q_t), phi(k_s)> v_s / sum_{s <= t} c_{t-s} <phi(q_t), phi(k_s)>,   c_s = e^{b_s}

phi has entries above 0, so that weights are. Since c depends on the lag alone, both sums are convolutions of c with
phi(k_s) v_s^T and phi(k_s), which every query then reads: n log n for each pair of features, and no pair of tokens is
laid out.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention.convolution import causal_convolutions
from ordinate.attention.decay import present_weights
from ordinate.encodings.helpers import by_lag

Features = Float[Tensor, "batch head token feature"]
Values = Float[Tensor, "batch head token dim"]


def positive_features(
    x: Float[Tensor, "*batch token dim"], directions: Float[Tensor, "feature dim"]
) -> Float[Tensor, "*batch token feature"]:
    """phi_r(x) = e^{<w_r, x> - |x|^2 / 2}: with w from N(0, I), E <phi(q), phi(k)> / r = e^{<q, k>}.

    >>> positive_features(torch.zeros(1, 2), torch.ones(3, 2)).tolist()
    [[1.0, 1.0, 1.0]]
    """
    return (x @ directions.T - 0.5 * x.square().sum(-1, keepdim=True)).exp()


def kernelized_attention(
    query: Features, key: Features, value: Values, lags: Float[Tensor, "head token"]
) -> Values:
    """The same with every pair laid out; a query without any key receives 0."""
    weights = present_weights(by_lag(lags), normalised=False) * (query @ key.transpose(-1, -2))
    total = weights.sum(-1, keepdim=True)
    return torch.where(total > 0, weights @ value / torch.where(total > 0, total, 1.0), 0.0)


def kernelized_toeplitz(
    query: Features, key: Features, value: Values, lags: Float[Tensor, "head token"]
) -> Values:
    """By FFT.

    >>> one, lags = torch.ones(1, 1, 3, 1), torch.tensor([[float("-inf"), 0.0, 0.0]])
    >>> value = torch.tensor([1.0, 0.0, 4.0]).reshape(1, 1, 3, 1)
    >>> kernelized_toeplitz(one, one, value, lags).round(decimals=5).flatten().tolist()
    [0.0, 1.0, 0.5]
    """
    top = lags.detach().amax(-1, keepdim=True).clamp(min=torch.finfo(lags.dtype).min)
    kernels = (lags - top).exp()  # a common factor cancels: the largest is made 1
    counted = torch.nn.functional.pad(value, (0, 1), value=1.0)  # the last column sums up the weights
    products = key[..., :, None] * counted[..., None, :]
    sums = torch.stack(
        [
            causal_convolutions(kernels[head, None], products[:, head].movedim(1, -1))[..., 0, :]
            for head in range(kernels.shape[0])
        ],
        dim=1,
    ).movedim(-1, 2)
    read = torch.einsum("bhtf,bhtfd->bhtd", query, sums)
    there = (kernels.cumsum(-1) > 0)[None, :, :, None]
    total = torch.where(there, read[..., -1:], 1.0)
    return torch.where(there, read[..., :-1] / total, 0.0)
