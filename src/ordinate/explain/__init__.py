"""What a model does with one input, as numbers: attention, rollout, effects of changes, and what parts are worth."""

from ordinate.explain.ablate import Ablated, Ablation, ablate
from ordinate.explain.classes import ClassVectors, class_vectors
from ordinate.explain.explain import explain
from ordinate.explain.explanation import Explanation, Output, Token
from ordinate.explain.passes import Pass
from ordinate.explain.rollout import rollout

__all__ = [
    "Ablated",
    "Ablation",
    "ClassVectors",
    "Explanation",
    "Output",
    "Pass",
    "Token",
    "ablate",
    "class_vectors",
    "explain",
    "rollout",
]
