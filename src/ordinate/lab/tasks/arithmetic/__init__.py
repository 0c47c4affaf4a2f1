"""Arithmetic: tasks on whole numbers, digit by digit, exact at any length."""

from ordinate.lab.tasks.arithmetic.base import Arithmetic, DigitTask
from ordinate.lab.tasks.arithmetic.mixed import Mixed
from ordinate.lab.tasks.arithmetic.multiplication import Multiplication
from ordinate.lab.tasks.arithmetic.sums import Addition, NoCarry, Several, Subtraction

__all__ = [
    "Addition",
    "Arithmetic",
    "DigitTask",
    "Mixed",
    "Multiplication",
    "NoCarry",
    "Several",
    "Subtraction",
]
