"""The faster of dense and sparse attention for a pattern."""

from jaxtyping import Float
from torch import Tensor

from ordinate.attention.pairwise import dense_attention
from ordinate.attention.sparse import sparse_attention
from ordinate.relations.pattern import Pattern

# Costs of sparse attention in columns of dense scores; CALLS and SLOT are fitted by eye to windows of 3, 10, 30 keys,
# forward and backward in float32 on one shared core: with 8 samples of 4 heads both took equally long between 49 and
# 97, 65 and 129, 97 and 257 tokens; with 128 samples at about half of that, with one at about twice. RUN is an
# estimate from the time of a call, not a fit.
CALLS = 64
SLOT = 4
RUN = 64
"""Times runs per token: a run costs a few calls, however short it is."""


def attend(
    query: Float[Tensor, "batch head token dim"] | None,
    key: Float[Tensor, "batch head token dim"] | None,
    value: Float[Tensor, "batch head token dim_v"],
    pattern: Pattern,
    *,
    vectors: Float[Tensor, "#head cls dim"] | None = None,
    bias: Float[Tensor, "#head cls"] | None = None,
    scores_bias: Float[Tensor, "#head token token"] | None = None,
    scale: float | int = 1.0,
) -> Float[Tensor, "batch head token dim_v"]:
    """Attention over classes of pairs, dense or sparse by what is faster for the pattern.

    A bias on every pair is dense by itself.
    """
    if scores_bias is None and is_sparse(pattern):
        return sparse_attention(query, key, value, pattern, vectors=vectors, bias=bias, scale=scale)
    return dense_attention(
        query, key, value, pattern, vectors=vectors, bias=bias, scores_bias=scores_bias, scale=scale
    )


def is_sparse(pattern: Pattern) -> bool:
    """Whether slots and runs are few enough for sparse attention to be faster."""
    if CALLS + SLOT * pattern.keys_per_query >= pattern.tokens:  # before blocks are worked out
        return False
    slots = sum(len(block.classes) * (block.last - block.first) for block in pattern.blocks) / pattern.tokens
    runs = sum(len(block.runs) for block in pattern.blocks) / pattern.tokens
    return CALLS + SLOT * slots + RUN * runs < pattern.tokens
