"""Causal attention by scores that fall with the lag (arXiv 2402.00522), with every pair laid out.

    weights[t, s] = exp(score[t, s])                           normalization-free
    weights[t, s] = exp(score[t, s]) / sum_j exp(score[t, j])  softmax

A score of -inf is a key that is absent. A query without any key receives 0, in both forms.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention.dot_product import attention_weights


def present_weights(
    scores: Float[Tensor, "*batch head query key"], *, normalised: bool
) -> Float[Tensor, "*batch head query key"]:
    """Weights from scores; rows without any key are zeros.

    >>> absent = float("-inf")
    >>> present_weights(torch.tensor([[[absent, absent], [0.0, absent]]]), normalised=True)
    tensor([[[0., 0.],
             [1., 0.]]])
    """
    if not normalised:
        return scores.exp()
    some = (scores.detach() != -torch.inf).any(-1, keepdim=True)
    return torch.where(some, scores, 0.0).softmax(-1) * some


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
    weights = attention_weights(scores) if normalised else scores.exp()
    return (weights @ x * some).view(batch, tokens, -1)
