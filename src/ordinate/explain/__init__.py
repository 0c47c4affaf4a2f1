"""What a model does with one input, as numbers: attention, rollout, effects of changes, and what parts are worth."""

from ordinate.explain.explain import explain
from ordinate.explain.explanation import Explanation, Output, Token
from ordinate.explain.passes import Pass
from ordinate.explain.rollout import rollout

__all__ = ["Explanation", "Output", "Pass", "Token", "explain", "rollout"]
