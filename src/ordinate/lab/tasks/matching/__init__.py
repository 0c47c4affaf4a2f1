"""Tasks that set attention apart: pairs, triples, averages over named tokens, counting inside brackets."""

from ordinate.lab.tasks.matching.averages import SparseAverage
from ordinate.lab.tasks.matching.counting import ContextualCounting
from ordinate.lab.tasks.matching.matches import Match2, Match3

__all__ = ["ContextualCounting", "Match2", "Match3", "SparseAverage"]
