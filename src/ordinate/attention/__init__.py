"""Attention: pure functions, thin modules over them, named hooks."""

from ordinate.attention.call import KeyCache
from ordinate.attention.classes import (
    Plan,
    attend,
    blocked_attention,
    dense_attention,
    plan,
    sparse_attention,
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

__all__ = [
    "FORMS",
    "Attention",
    "Class",
    "ClassKeys",
    "ClassOnly",
    "Content",
    "ContentClass",
    "ContentKeys",
    "Form",
    "Hook",
    "KeyCache",
    "MultiHead",
    "Plan",
    "attend",
    "attention_scores",
    "attention_weights",
    "blocked_attention",
    "captured",
    "dense_attention",
    "hooks",
    "mix",
    "patched",
    "plan",
    "sparse_attention",
]
