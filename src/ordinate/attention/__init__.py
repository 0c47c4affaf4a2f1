"""Attention: pure functions, thin modules over them, named hooks."""

from ordinate.attention.attention import (
    ConcatAttention,
    ContentAttention,
    HybridAttention,
    PositionalAttention,
    ScoredAttention,
)
from ordinate.attention.choose import attend
from ordinate.attention.dot_product import attention_scores, attention_weights, mix
from ordinate.attention.forms import FORMS, Class, Content, ContentClass, Form
from ordinate.attention.hooks import Hook, captured, hooks, patched
from ordinate.attention.memory import LOOKS, Dp, DpFree, Hard, Look, MemoryAttention, Tmx
from ordinate.attention.multihead import ClassKeys, ClassOnly, ContentKeys, MultiHead
from ordinate.attention.table import TableAttention, dense_attention, sharpness

__all__ = [
    "FORMS",
    "LOOKS",
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
    "PositionalAttention",
    "ScoredAttention",
    "TableAttention",
    "Tmx",
    "attend",
    "attention_scores",
    "attention_weights",
    "captured",
    "dense_attention",
    "hooks",
    "mix",
    "patched",
    "sharpness",
]
