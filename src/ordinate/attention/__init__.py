"""Attention: pure functions, thin modules over them, named hooks."""

from ordinate.attention.attention import (
    Attention,
    ContentAttention,
    HybridAttention,
    PositionalAttention,
)
from ordinate.attention.dot_product import attention_scores, attention_weights, mix
from ordinate.attention.hooks import Hook, captured, hooks, patched

__all__ = [
    "Attention",
    "ContentAttention",
    "Hook",
    "HybridAttention",
    "PositionalAttention",
    "attention_scores",
    "attention_weights",
    "captured",
    "hooks",
    "mix",
    "patched",
]
