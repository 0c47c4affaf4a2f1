"""Values: what a program computes with, one number in every processor.

A program is a plain Python function on values. The same function runs on three kinds of them: `Word` (numbers, in the
machine), `Traced` (symbols, in the compiler), and whatever else fills in the primitives at the end of the class.

>>> from ordinate.lab.programs.machine import Machine
>>> Machine(4).run(lambda x: 2 * x + 1, [[1, 2, 3, 4]]).outputs[0].tolist()
[[3.0], [5.0], [7.0], [9.0]]
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ordinate.lab.programs.language.ranges import Range, refuse

Number = int | float | np.integer | np.floating
Places = Callable[[int], Any] | Sequence[Any] | np.ndarray
"""A number for every processor: a function of its position, or the list of all of them."""


class Own:
    """The default of a processor that receives nothing and keeps its own value."""


OWN = Own()


class Value(ABC):
    """One number in every processor; operators act on all processors alike."""

    n: int
    """How many processors there are; positions are 0 .. n - 1."""

    __array_ufunc__ = None
    __hash__ = object.__hash__

    # Arithmetic.

    def __add__(self, other: Any) -> "Value":
        return self._plus(other, 1)

    __radd__ = __add__

    def __neg__(self) -> "Value":
        return self._affine(-1, None, 0, 0)

    def __sub__(self, other: Any) -> "Value":
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> "Value":
        return (-self)._plus(other, 1)

    def __mul__(self, factor: Any) -> "Value":
        if isinstance(factor, Value):
            refuse(
                "two data values are multiplied: write lookup(10 * x + y, table), or select where one is yes or no"
            )
        if not is_number(factor):
            refuse(f"a value times {type(factor).__name__}: write a number, or x.scaled(...) for one a place")
        return self._affine(finite(factor), None, 0, 0)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> "Value":
        if not is_number(divisor) or divisor == 0:
            refuse(
                "a value can be divided by a number other than 0: write lookup(x, table) for anything else"
            )
        return self._affine(1 / float(divisor), None, 0, 0)

    # Comparison and logic: yes is 1, no is 0.

    def __gt__(self, other: Any) -> "Value":
        return self._plus(other, -1)._positive()

    def __lt__(self, other: Any) -> "Value":
        return (-self)._plus(other, 1)._positive()

    def __ge__(self, other: Any) -> "Value":
        return ~((-self)._plus(other, 1)._positive())

    def __le__(self, other: Any) -> "Value":
        return ~(self._plus(other, -1)._positive())

    def __eq__(self, other: Any) -> "Value":  # type: ignore[override]
        return self._plus(other, -1)._zero()

    def __ne__(self, other: Any) -> "Value":  # type: ignore[override]
        return ~(self._plus(other, -1)._zero())

    def __and__(self, other: Any) -> "Value":
        return self._plus(other, 1).lookup([0, 0, 1])

    def __or__(self, other: Any) -> "Value":
        return self._plus(other, 1).lookup([0, 1, 1])

    def __xor__(self, other: Any) -> "Value":
        return self._plus(other, 1).lookup([0, 1, 0])

    def __invert__(self) -> "Value":
        return 1 - self

    def __bool__(self) -> bool:
        refuse("a data value decides what the program does: write select(condition, yes, no)")

    def __index__(self) -> int:
        refuse("a data value is used as an index: a source must be static, a function of the position")

    # Positions and communication.

    def constant(self, values: Places) -> "Value":
        """A number that every processor knows: `x.constant(lambda i: i % 2)`."""
        return self._constant(np.array([float(v) for v in listed(values, self.n, "constant")]))

    def scaled(self, factors: Places) -> "Value":
        """The value times a number between -1 and 1 that depends on the position: `x.scaled(lambda i: (-1) ** i)`."""
        found = np.array([float(v) for v in listed(factors, self.n, "factor")])
        if not (np.abs(found) <= 1).all():
            refuse(
                f"a factor of {found[np.abs(found).argmax()]:g} is outside [-1, 1]: divide by it and multiply after"
            )
        return self._scaled(found)

    def receive(self, source: Places, default: "Number | Own" = 0) -> "Value":
        """The value of processor source(position); the default where that is None or no processor."""
        found = sources(source, self.n)
        if isinstance(default, Own):
            return self._receive(np.where(found < 0, np.arange(self.n), found), 0.0)
        return self._receive(found, finite(default))

    def _plus(self, other: Any, factor: int) -> "Value":
        """self + factor * other, a value or a number."""
        if is_number(other):
            return self._affine(1, None, 0, factor * finite(other))
        return self._affine(1, self._fits(other), factor, 0)

    def _fits(self, other: Any) -> "Value":
        if not isinstance(other, Value):
            refuse(
                f"a value meets {type(other).__name__}: write a number, or x.constant(...) for one a place"
            )
        if type(other) is not type(self) or other.n != self.n:
            refuse("values of two programs meet: use what this program was given")
        return other

    # What a kind of value has to say.

    @abstractmethod
    def _affine(
        self, factor: int | float, other: "Value | None", other_factor: int | float, constant: int | float
    ) -> "Value":
        """factor * self + other_factor * other + constant."""

    @abstractmethod
    def relu(self) -> "Value":
        """max(x, 0)."""

    @abstractmethod
    def minimum(self, other: "Value") -> "Value":
        """The smaller of two."""

    @abstractmethod
    def maximum(self, other: "Value") -> "Value":
        """The larger of two."""

    @abstractmethod
    def clip(self, low: Number, high: Number) -> "Value":
        """The nearest number in [low, high]."""

    @abstractmethod
    def exchange(self, low: "Value", high: "Value") -> "Value":
        """min(x, low) + max(x, high) - x, where in every processor low or high is x: one compare-exchange."""

    @abstractmethod
    def lookup(self, table: Sequence[Number], first: int = 0) -> "Value":
        """table[x - first]."""

    @abstractmethod
    def select(self, yes: "Value", no: "Value") -> "Value":
        """`yes` where this is 1, `no` where it is 0."""

    @abstractmethod
    def either(self, other: "Value") -> "Value":
        """The sum of two values of which at most one differs from 0 in every processor."""

    @abstractmethod
    def within(self, stated: Range) -> "Value":
        """The same value, with a range that the author of the program states."""

    @abstractmethod
    def _positive(self) -> "Value":
        """1 where a whole number is above 0."""

    @abstractmethod
    def _zero(self) -> "Value":
        """1 where a whole number is 0."""

    @abstractmethod
    def _constant(self, values: Float[np.ndarray, " n"]) -> "Value":
        """A number for every processor."""

    @abstractmethod
    def _scaled(self, factors: Float[np.ndarray, " n"]) -> "Value":
        """Times a number for every processor."""

    @abstractmethod
    def _receive(self, source: Int[np.ndarray, " n"], default: float) -> "Value":
        """From the source; -1 receives nothing."""


def listed(values: Places, n: int, what: str) -> list[Any]:
    """The numbers of all processors; a data value among them is refused."""
    found = [values(i) for i in range(n)] if callable(values) else list(values)
    if len(found) != n:
        refuse(f"{len(found)} numbers for {n} processors: write one {what} for each")
    for value in found:
        if isinstance(value, Value):
            refuse(f"a {what} depends on data: it must be static, a function of the position")
        if value is not None and not (is_number(value) and math.isfinite(value)):
            refuse(f"a {what} is {value!r}: write a finite number for every position")
    return found


def sources(source: Places, n: int) -> Int[np.ndarray, " n"]:
    """The processor that each one receives from, -1 for none.

    >>> sources(lambda i: i - 1, 4).tolist()
    [-1, 0, 1, 2]
    """
    if not (isinstance(source, np.ndarray) and source.shape == (n,) and source.dtype.kind == "i"):
        found = [-1 if s is None else s for s in listed(source, n, "source")]
        for value in found:
            if value != int(value):
                refuse(f"a source is {value!r}: write the whole number of a processor, or None for nothing")
        source = np.array([int(s) for s in found])
    return np.where((source >= 0) & (source < n), source, -1)


def finite(value: Number) -> float:
    """A number as a float, unless it is infinite or none at all."""
    if not math.isfinite(value):
        refuse(f"{value} is not finite: write the largest or smallest number that can occur")
    return float(value)


def is_number(value: Any) -> bool:
    """Whether something is a plain number; yes and no are not."""
    return isinstance(value, Number) and not isinstance(value, bool)
