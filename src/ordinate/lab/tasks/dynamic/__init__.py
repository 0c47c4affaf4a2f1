"""Dynamic programming: tasks on small whole numbers whose answers are built from those of smaller problems."""

from ordinate.lab.tasks.dynamic.base import Dynamic, TwoSequences
from ordinate.lab.tasks.dynamic.edit_distance import EditDistance
from ordinate.lab.tasks.dynamic.knapsack import Knapsack
from ordinate.lab.tasks.dynamic.lcs import Lcs

__all__ = ["Dynamic", "EditDistance", "Knapsack", "Lcs", "TwoSequences"]
