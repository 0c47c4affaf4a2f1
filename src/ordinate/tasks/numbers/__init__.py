"""Numbers: the tasks on sequences of real numbers, drawn so that every sequence has a range of its own."""

from ordinate.tasks.numbers.base import Numbers
from ordinate.tasks.numbers.max import Max
from ordinate.tasks.numbers.max_subarray import MaxSubarray
from ordinate.tasks.numbers.median import Median
from ordinate.tasks.numbers.min import Min
from ordinate.tasks.numbers.min_sum import MinSum
from ordinate.tasks.numbers.path import Path
from ordinate.tasks.numbers.sort import Sort
from ordinate.tasks.numbers.sum import Sum

__all__ = ["Max", "MaxSubarray", "Median", "Min", "MinSum", "Numbers", "Path", "Sort", "Sum"]
