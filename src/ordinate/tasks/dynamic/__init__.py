"""Dynamic programming: tasks on small whole numbers whose answers are built from those of smaller problems."""

from ordinate.tasks.dynamic.base import Dynamic, TwoSequences
from ordinate.tasks.dynamic.edit_distance import EditDistance
from ordinate.tasks.dynamic.knapsack import Knapsack
from ordinate.tasks.dynamic.lcs import Lcs

__all__ = ["Dynamic", "EditDistance", "Knapsack", "Lcs", "TwoSequences"]
