"""Arithmetic as machines: a symbol is a column of digits, the output a digit of the result.

A column of two numbers is written `35`: 3 is a digit of the first, 5 of the second. Columns come from the least
significant to the most significant one, in division the other way round. A result has as many places as there are
columns: what is carried past the last column is dropped, so that sums and products are modulo base^length.
"""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import product
from typing import ClassVar

from pydantic import Field, model_validator
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.automata.languages import Ready, explored
from ordinate.lab.tasks.automata.machine import Machine

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
MOST_SYMBOLS = 1296
BASE = Field(10, ge=2, le=16, description="of the digits")


class Columns(Ready):
    """Columns of digits in one base, each answered with a digit."""

    numbers: ClassVar[int] = 2
    """How many digits a column has."""
    sign: ClassVar[str]
    """What is written between the numbers."""
    first: ClassVar[int] = 0
    """The first state."""

    base: int = BASE

    @abstractmethod
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        """The state and the output that follow a state and a column."""

    @override
    def columns(self) -> tuple[int, ...]:
        return (self.base,) * self.numbers

    def answers(self) -> tuple[str, ...]:
        """The outputs by index."""
        return tuple(DIGITS[: self.base])

    @override
    def build(self) -> Machine:
        sizes = self.columns()
        names = {"".join(DIGITS[d] for d in digits): digits for digits in product(*map(range, sizes))}
        step, states = explored(names, self.first, lambda state, name: self.add(state, names[name])[0])
        emit = tuple(tuple(self.add(state, digits)[1] for digits in names.values()) for state in states)
        return Machine(tuple(names), self.answers(), tuple(map(tuple, step)), emit, 0)

    @override
    def reading(self, word: Sequence[str], answers: Sequence[str]) -> str | None:
        operands = ["".join(digits)[::-1] for digits in zip(*word, strict=True)]
        return f"{self.sign.join(operands)}={''.join(answers)[::-1]}"


class Addition(Columns, name="addition", summary="the sum of two numbers, column by column", sign="+"):
    """The sum of two numbers; the state is the carry: 0 or 1."""

    @override
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        return divmod(sum(digits) + state, self.base)


class Several(Addition, name="several", summary="the sum of several numbers, column by column", sign="+"):
    """The sum of several numbers; the state is the carry, below their number."""

    addends: int = Field(3, ge=2, le=10, description="how many numbers")

    @model_validator(mode="after")
    def _few_columns(self) -> "Several":
        if self.base**self.addends > MOST_SYMBOLS:
            raise OrdinateError(
                f"{self.addends} digits in base {self.base} are {self.base**self.addends} columns, more than "
                f"{MOST_SYMBOLS}: write fewer addends, or a smaller base"
            )
        return self

    @override
    def columns(self) -> tuple[int, ...]:
        return (self.base,) * self.addends


class NoCarry(Columns, name="no-carry", summary="the sum of two numbers without carries", sign="+"):
    """The sum of the digits of each column, modulo the base; there is one state."""

    @override
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        return 0, sum(digits) % self.base


class Subtraction(
    Columns, name="subtraction", summary="the difference of two numbers, column by column", sign="-"
):
    """The first number minus the second, modulo base^length where it is the smaller one; the state is the borrow."""

    @override
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        borrow, digit = divmod(digits[0] - digits[1] - state, self.base)
        return -borrow, digit


class Comparison(Columns, name="comparison", summary="which of two numbers is larger: < = >", sign=""):
    """How the first number compares with the second, of the columns so far: the last that differs decides."""

    first: ClassVar[int] = 1

    @override
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        one, two = digits
        state = state if one == two else 2 * (one > two)
        return state, state

    @override
    def answers(self) -> tuple[str, ...]:
        return ("<", "=", ">")

    @override
    def reading(self, word: Sequence[str], answers: Sequence[str]) -> str | None:
        one, two = ("".join(digits)[::-1] for digits in zip(*word, strict=True))
        return f"{one}{answers[-1]}{two}"


class Multiplication(
    Columns, name="multiplication", summary="a number times a constant", numbers=1, sign="x"
):
    """A number times a constant; the state is the carry, below the constant."""

    factor: int = Field(7, ge=1, le=1000, description="the constant")

    @override
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        return divmod(digits[0] * self.factor + state, self.base)

    @override
    def reading(self, word: Sequence[str], answers: Sequence[str]) -> str | None:
        return f"{''.join(word)[::-1]}x{numeral(self.factor, self.base)}={''.join(answers)[::-1]}"


class Division(
    Columns,
    name="division",
    summary="a number by a constant, most significant digit first",
    numbers=1,
    sign=":",
):
    """The quotient of a number by a constant, most significant digit first; the state is the remainder."""

    divisor: int = Field(7, ge=1, le=1000, description="the constant")

    @override
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        quotient, rest = divmod(state * self.base + digits[0], self.divisor)
        return rest, quotient

    @override
    def reading(self, word: Sequence[str], answers: Sequence[str]) -> str | None:
        return f"{''.join(word)}:{numeral(self.divisor, self.base)}={''.join(answers)}"


class BaseChange(
    Columns, name="base-change", summary="digits of a base as digits of its power", numbers=1, sign=""
):
    """A number in base b as one in base b^k: every k digits, least significant first, make one; `.` in between.

    The state is the number read since the last digit was written, with a 1 in front.
    """

    first: ClassVar[int] = 1

    base: int = Field(2, ge=2, le=6, description="of the digits that are read")
    digits: int = Field(3, ge=2, le=5, description="how many of them make one digit of the result")

    @model_validator(mode="after")
    def _has_digits(self) -> "BaseChange":
        if self.base**self.digits > len(DIGITS):
            raise OrdinateError(
                f"base {self.base}^{self.digits} has more than {len(DIGITS)} digits: write fewer digits"
            )
        return self

    @override
    def add(self, state: int, digits: tuple[int, ...]) -> tuple[int, int]:
        place = self.base ** (len(numeral(state, self.base)) - 1)
        value = state - place + digits[0] * place
        place, whole = place * self.base, self.base**self.digits
        return (1, value) if place == whole else (place + value, whole)

    @override
    def answers(self) -> tuple[str, ...]:
        return (*DIGITS[: self.base**self.digits], ".")

    @override
    def reading(self, word: Sequence[str], answers: Sequence[str]) -> str | None:
        return None


def numeral(number: int, base: int) -> str:
    """A number in a base.

    >>> numeral(10, 2)
    '1010'
    """
    rest, digit = divmod(number, base)
    return (numeral(rest, base) if rest else "") + DIGITS[digit]


COLUMNS = (Addition, Several, Subtraction, NoCarry, Comparison, Multiplication, Division, BaseChange)
