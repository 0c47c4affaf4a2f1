"""Attention: pure functions, thin modules over them, named hooks."""

from ordinate.attention.classes import (
    Plan,
    attend,
    blocked_attention,
    dense_attention,
    plan,
    sparse_attention,
)
from ordinate.attention.concat import (
    ConcatAttention,
    ContentAttention,
    HybridAttention,
    PositionalAttention,
    ScoredAttention,
)
from ordinate.attention.dot_product import attention_scores, attention_weights, mix
from ordinate.attention.heads import (
    FORMS,
    Class,
    ClassKeys,
    ClassOnly,
    Content,
    ContentClass,
    ContentKeys,
    Form,
    MultiHead,
)
from ordinate.attention.hooks import Hook, captured, hooks, patched
from ordinate.attention.layer import Attention
from ordinate.attention.memory import LOOKS, Dp, DpFree, Hard, Look, MemoryAttention, Tmx
from ordinate.attention.table import TableAttention, densify, sharpness

__all__ = [
    "FORMS",
    "LOOKS",
    "Attention",
    "Class",
    "ClassKeys",
    "ClassOnly",
    "ConcatAttention",
    "Content",
    "ContentAttention",
    "ContentClass",
    "ContentKeys",
    "Dp",
    "DpFree",
    "Form",
    "Hard",
    "Hook",
    "HybridAttention",
    "Look",
    "MemoryAttention",
    "MultiHead",
    "Plan",
    "PositionalAttention",
    "ScoredAttention",
    "TableAttention",
    "Tmx",
    "attend",
    "attention_scores",
    "attention_weights",
    "blocked_attention",
    "captured",
    "dense_attention",
    "densify",
    "hooks",
    "mix",
    "patched",
    "plan",
    "sharpness",
    "sparse_attention",
]
