"""Arithmetic: tasks on whole numbers, digit by digit, exact at any length."""

from ordinate.tasks.arithmetic.addition import Addition
from ordinate.tasks.arithmetic.base import Arithmetic, Symbols
from ordinate.tasks.arithmetic.cascades import cascade_distribution
from ordinate.tasks.arithmetic.levels import carry_levels_distribution
from ordinate.tasks.arithmetic.mixed import Mixed
from ordinate.tasks.arithmetic.multiplication import Multiplication
from ordinate.tasks.arithmetic.no_carry import NoCarry
from ordinate.tasks.arithmetic.several import Several
from ordinate.tasks.arithmetic.subtraction import Subtraction

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
