"""Arithmetic: tasks on whole numbers, digit by digit, exact at any length."""

from ordinate.lab.tasks.arithmetic.addition import Addition
from ordinate.lab.tasks.arithmetic.base import Arithmetic, Symbols
from ordinate.lab.tasks.arithmetic.cascades import cascade_distribution
from ordinate.lab.tasks.arithmetic.levels import carry_levels_distribution
from ordinate.lab.tasks.arithmetic.mixed import Mixed
from ordinate.lab.tasks.arithmetic.multiplication import Multiplication
from ordinate.lab.tasks.arithmetic.no_carry import NoCarry
from ordinate.lab.tasks.arithmetic.several import Several
from ordinate.lab.tasks.arithmetic.subtraction import Subtraction

__all__ = [
    "Addition",
    "Arithmetic",
    "Mixed",
    "Multiplication",
    "NoCarry",
    "Several",
    "Subtraction",
    "Symbols",
    "carry_levels_distribution",
    "cascade_distribution",
]
