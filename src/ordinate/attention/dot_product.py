"""Dot-product attention as pure functions: scores, weights, mixing."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from ordinate.encodings import Pairs
from ordinate.relations import ABSENT


def attention_scores(
    query: Float[Tensor, "*batch head query dim"],
    key: Float[Tensor, "*batch head key dim"] | None,
    *,
    pairs: Sequence[Pairs] = (),
    bias: Float[Tensor, "#head query key"] | None = None,
) -> Float[Tensor, "*batch head query key"]:
    """score[i, j] = q_i . (k_j + a_{class(i, j)}) / sqrt(d) + bias[i, j], and -inf where a pair is absent.

    Without keys the classes alone are looked for. Fewer queries than the patterns have tokens are those of the last
    tokens. The class term is computed as one product with the table of vectors followed by a lookup, so that no
    [query, key, dim] tensor is ever made.
    """
    parts = []
    heads = query.split([group.heads for group in pairs], dim=-3) if pairs else (query,)
    keys = (
        key.split([group.heads for group in pairs], dim=-3)
        if pairs and key is not None
        else (key,) * len(heads)
    )
    for place, (q, k) in enumerate(zip(heads, keys, strict=True)):
        found = None if k is None else q @ k.transpose(-1, -2)
        if pairs:
            found = _with_classes(q, found, pairs[place])
        assert found is not None, "without keys there must be classes to look for"
        parts.append(found)
    scores: Tensor = torch.cat(parts, dim=-3) if len(parts) > 1 else parts[0]
    scores = scores * query.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    return scores


def _with_classes(
    query: Float[Tensor, "*batch head query dim"],
    scores: Float[Tensor, "*batch head query key"] | None,
    group: Pairs,
) -> Float[Tensor, "*batch head query key"]:
    classes = group.pattern.dense[-query.shape[-2] :].to(query.device)
    shape = (*query.shape[:-1], classes.shape[-1])
    if group.vectors is not None:
        by_class = query @ group.vectors.to(query.dtype).transpose(-1, -2)
        plain = by_class.new_zeros(*by_class.shape[:-1], 1)
        found = torch.cat([by_class, plain], dim=-1).gather(-1, classes.clamp(min=0).expand(shape))
        scores = found if scores is None else scores + found
    elif scores is None:
        scores = query.new_zeros(shape)
    return scores.masked_fill(classes == ABSENT, float("-inf"))


LANES = 16 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 8
"""Numbers in a vector of this processor: a softmax over a last axis that is shorter takes them one by one."""


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
    if scores.shape[-1] < LANES and scores.device.type == "cpu":
        return torch.softmax(scores.mT, dim=-2).mT
    return torch.softmax(scores, dim=-1)


def mix(
    weights: Float[Tensor, "*#batch head query key"], values: Float[Tensor, "*batch head key dim"]
) -> Float[Tensor, "*batch head query dim"]:
    """output_i = sum_j weights[i, j] values_j. Weights without a batch axis are shared by the batch."""
    return weights @ values
