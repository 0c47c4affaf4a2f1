"""Causal attention by scores that fall with the lag (arXiv 2402.00522), with every pair laid out and by FFT.

    weights[t, s] = exp(score[t, s])                           normalization-free
    weights[t, s] = exp(score[t, s]) / sum_j exp(score[t, j])  softmax

A score of -inf is a key that is absent. A query without any key receives 0, in both forms. Where the lag alone decides,
the weights are a Toeplitz matrix, and mixing is a convolution.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention.dot_product import present_weights, softmax_over_keys
from ordinate.attention.kernels import without_autocast
from ordinate.encodings.helpers import by_difference
from ordinate.lab.architectures.convolution import causal_convolutions

# Tokens from which on transforms are faster, fitted by eye to the time of forward and backward passes in float32 on one
# core: with 4, 64, 256, 400 and 1024 features of all samples both took equally long at about 60, 85, 110, 160 and 210
# tokens with 4 heads or more, and at about 150 to 200 with one.
FEWEST = 96
FEATURES = 8
MOST_FEATURES = 1024


def decay_attention(
    x: Float[Tensor, "batch key width"],
    scores: Float[Tensor, "#batch head query key"],
    *,
    normalised: bool,
) -> Float[Tensor, "batch head query width"]:
    """sum_s weights[t, s] x_s for every head; scores without a batch axis of their own are shared by the batch."""
    weights = present_weights(scores, normalised=normalised)
    if len(weights) == 1:
        return torch.einsum("hqk,bkd->bhqd", weights[0], x)
    mixed: Tensor = (weights.flatten(1, 2) @ x).unflatten(1, weights.shape[1:3])
    return mixed


def content_decay_attention(
    x: Float[Tensor, "batch key width"],
    query: Float[Tensor, "batch key look"],
    bias: Float[Tensor, "head key key"],
    *,
    normalised: bool,
) -> Float[Tensor, "batch key look"]:
    """sum_s weights[t, s] x_s for every head, with scores <query_t, x_s> + bias[t, s].

    Heads lie inside of tokens, so that nothing is laid out anew. Which rows have no key the bias says alone, without
    the batch: there it is set to 0, and the sum too.
    """
    batch, tokens, width = x.shape
    present = (bias.detach() != -torch.inf).any(-1, keepdim=True)
    some, rows = (part.transpose(0, 1).flatten(0, 1) for part in (present, bias.masked_fill(~present, 0.0)))
    scores = torch.baddbmm(rows, query.reshape(batch, -1, width), x.transpose(1, 2))
    weights = softmax_over_keys(scores) if normalised else scores.exp()
    return (weights @ x * some).view(batch, tokens, -1)


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


def by_lag(values: Float[Tensor, "head lag"]) -> Float[Tensor, "head query key"]:
    """M[i, j] = values of i - j, which are given in the order 0 .. n - 1, and -inf where the key is ahead.

    >>> by_lag(torch.tensor([[0.0, 1.0]]))
    tensor([[[0., -inf],
             [1., 0.]]])
    """
    ahead = values.new_full((len(values), values.shape[-1] - 1), float("-inf"))
    return by_difference(torch.cat([ahead, values], dim=-1))


def toeplitz_attention(
    x: Float[Tensor, "batch token width"], lags: Float[Tensor, "head token"], *, normalised: bool
) -> Float[Tensor, "batch head token width"]:
    """The same by FFT: n log n for each head and feature, and no pair is laid out.

    Half precisions are computed in float32, since transforms know no others.
    """
    dtype = x.dtype
    with without_autocast(x):
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
