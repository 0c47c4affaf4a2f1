"""What a model does with one input, as numbers: attention, rollout, effects of changes, and what parts are worth."""

from ordinate.lab.explain.ablate import Ablated, Ablation, ablate
from ordinate.lab.explain.explain import explain
from ordinate.lab.explain.explanation import Explanation, Output, Token
from ordinate.lab.explain.parts import ClassVectors, class_vectors
from ordinate.lab.explain.passes import Pass, rollout

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
