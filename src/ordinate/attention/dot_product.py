"""Dot-product attention as pure functions: scores, weights, mixing."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ordinate.positions.encodings import ClassVectors


def attention_scores(
    query: Float[Tensor, "*batch head query dim"],
    key: Float[Tensor, "*batch head key dim"],
    *,
    class_vectors: ClassVectors | None = None,
    bias: Float[Tensor, "#head query key"] | None = None,
) -> Float[Tensor, "*batch head query key"]:
    """score[i, j] = q_i . (k_j + a_{class(i, j)}) / sqrt(d) + bias[i, j].

    The class term is computed as one product with the table of vectors followed by a lookup, so that no
    [query, key, dim] tensor is ever made.
    """
    scores: Tensor = query @ key.transpose(-1, -2)
    if class_vectors is not None:
        by_class = query @ class_vectors.vectors.to(query.dtype).T
        scores = scores + by_class.gather(-1, class_vectors.classes.expand_as(scores))
    scores = scores * query.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    return scores


def attention_weights(
    scores: Float[Tensor, "*batch head query key"],
    mask: Bool[Tensor, "*#mask query key"] | None = None,
) -> Float[Tensor, "*batch head query key"]:
    """weights = softmax over keys; where the mask is False a key is absent.

    A query without any key is an error, not a row of NaN.
    """
    if mask is not None:
        if not bool(mask.any(-1).all()):
            raise ValueError("a query has no key to attend to: every row of the mask needs one True")
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1)


def mix(
    weights: Float[Tensor, "*#batch head query key"], values: Float[Tensor, "*batch head key dim"]
) -> Float[Tensor, "*batch head query dim"]:
    """output_i = sum_j weights[i, j] values_j. Weights without a batch axis are shared by the batch."""
    return weights @ values
