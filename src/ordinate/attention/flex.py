"""Attention over classes of pairs by PyTorch's FlexAttention, which compiles it for a GPU, forward and backward.

Scores of classes are looked up in the product of the queries with the class vectors, absent pairs left out by blocks.
Without a compiler FlexAttention lays all pairs out, and on a CPU it has no backward pass: there it is for comparison.
"""

from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.attention.flex_attention import flex_attention
from torch.utils._triton import has_triton

from ordinate.attention.dense import with_plain
from ordinate.attention.tables import dense_tables
from ordinate.encodings.flex import ScoreMod, then
from ordinate.relations.flex import block_mask
from ordinate.relations.pattern import Pattern

LEAST_DIM = 16
"""Numbers in a head from which on the kernels work."""
PRECISIONS = torch.float32, torch.bfloat16, torch.float16


def compiles(device: torch.device) -> bool:
    """Whether there is a GPU and a compiler for it."""
    return device.type == "cuda" and has_triton()


def takes(query: Tensor | None, key: Tensor | None, value: Tensor) -> bool:
    """Whether queries, keys and values are such as the kernels work with."""
    given = [query, key, value]
    return all(x is not None and x.shape[-1] >= LEAST_DIM and x.dtype in PRECISIONS for x in given)


def flex(
    query: Float[Tensor, "batch head token dim"],
    key: Float[Tensor, "batch head token dim"],
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    vectors: Float[Tensor, "#head cls dim_c"] | None,
    bias: Float[Tensor, "#head cls"] | None,
    scores_bias: Float[Tensor, "#head token token"] | None,
    scale: float | int,
    look: Float[Tensor, "batch head token dim_c"] | None = None,
) -> Float[Tensor, "batch head token dim_v"]:
    """The numbers of `dense_attention` from inputs that were checked, and are finite where a pair is absent."""
    heads, device = query.shape[1], query.device
    classes = dense_tables(pattern, device).classes
    by_query = None
    if vectors is not None:
        looked_for = query if look is None else look
        by_query = (looked_for * scale) @ with_plain(vectors).mT
    by_class = None if bias is None else with_plain(bias).expand(heads, -1)
    by_pair = None if scores_bias is None else scores_bias.expand(heads, -1, -1)

    score_mod: ScoreMod | None = None
    if by_query is not None:
        score_mod = then(None, lambda score, b, h, i, j: score + by_query[b, h, i, classes[i, j]])
    if by_class is not None:
        score_mod = then(score_mod, lambda score, b, h, i, j: score + by_class[h, classes[i, j]])
    if by_pair is not None:
        score_mod = then(score_mod, lambda score, b, h, i, j: score + by_pair[h, i, j])
    absences = len(pattern.query) < pattern.tokens**2
    mask = block_mask(pattern, device) if absences else None
    kernel = _compiled() if compiles(device) else flex_attention
    out: Tensor = kernel(query, key, value, score_mod=score_mod, block_mask=mask, scale=float(scale))
    return out


@lru_cache(maxsize=1)
def _compiled() -> Any:
    return torch.compile(flex_attention)
