"""Numbers: the tasks on sequences of real numbers, drawn so that every sequence has a range of its own."""

from ordinate.lab.tasks.numbers.base import Numbers
from ordinate.lab.tasks.numbers.max import Max
from ordinate.lab.tasks.numbers.max_subarray import MaxSubarray
from ordinate.lab.tasks.numbers.median import Median
from ordinate.lab.tasks.numbers.min import Min
from ordinate.lab.tasks.numbers.min_sum import MinSum
from ordinate.lab.tasks.numbers.path import Path
from ordinate.lab.tasks.numbers.sort import Sort
from ordinate.lab.tasks.numbers.sum import Sum

__all__ = ["Max", "MaxSubarray", "Median", "Min", "MinSum", "Numbers", "Path", "Sort", "Sum"]
