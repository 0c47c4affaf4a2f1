"""The machine: n processors that compute on their own and send words to one another, round by round.

It is the massively parallel computation (MPC) of Andoni et al. 2018 with a static network: in a round every processor
computes anything from its memory, then receives at most s words and sends at most s. The interpreter runs a program
on NumPy arrays, a batch at once, counts rounds and words, and refuses a program that exceeds s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.lab.programs.language.ranges import Range, refuse
from ordinate.lab.programs.language.value import Number, Value

Function = Callable[..., Any]
"""A program's body: as many values in as a processor has input words, one value or several out."""


@dataclass
class Traffic:
    """Words that each processor sent and received in each round."""

    n: int
    sent: list[Int[np.ndarray, " n"]] = field(default_factory=list)
    received: list[Int[np.ndarray, " n"]] = field(default_factory=list)

    @property
    def rounds(self) -> int:
        """How often the processors communicate."""
        return len(self.sent)

    @property
    def most(self) -> int:
        """The most words that a processor sends or receives in a round: the s that the program needs."""
        return max((int(words.max()) for words in (*self.sent, *self.received)), default=0)

    @property
    def words(self) -> int:
        """Words that were sent in all."""
        return sum(int(words.sum()) for words in self.sent)

    def add(self, number: int, source: Int[np.ndarray, " n"]) -> None:
        """Count one communication of round `number`, the first being 1. Nothing is sent to oneself."""
        while self.rounds < number:
            self.sent.append(np.zeros(self.n, dtype=int))
            self.received.append(np.zeros(self.n, dtype=int))
        moved = (source >= 0) & (source != np.arange(self.n))
        self.sent[number - 1] += np.bincount(source[moved], minlength=self.n)
        self.received[number - 1] += moved


@dataclass(frozen=True)
class Execution:
    """What a run of the machine gave, and what it cost."""

    outputs: Float[np.ndarray, "batch n out"]
    traffic: Traffic


@dataclass(frozen=True)
class Machine:
    """n processors that send and receive at most `words` words a round each (None: as many as they like).

    >>> run = Machine(4, words=1).run(lambda x: x + x.receive(lambda i: i - 1), [[1, 2, 3, 4]])
    >>> run.outputs[0, :, 0].tolist(), run.traffic.rounds, run.traffic.words
    ([1.0, 3.0, 5.0, 7.0], 1, 3)
    """

    n: int
    words: int | None = None

    def __post_init__(self) -> None:
        if self.n < 1 or (self.words is not None and self.words < 1):
            raise OrdinateError(f"a machine has at least 1 processor of 1 word, got {self.n} of {self.words}")

    def run(self, function: Function, inputs: Any) -> Execution:
        """Run on inputs [batch, n, word], or [batch, n] where a processor has one word."""
        given = np.asarray(inputs, dtype=np.float64)
        given = given[..., None] if given.ndim == 2 else given
        if given.ndim != 3 or given.shape[1] != self.n:
            raise OrdinateError(
                f"inputs must be [batch, {self.n}] or [batch, {self.n}, words], got {list(given.shape)}"
            )
        if self.words is not None and given.shape[2] > self.words:
            raise OrdinateError(f"{given.shape[2]} input words a processor, but its memory has {self.words}")
        run = _Run(self, Traffic(self.n), len(given))
        outputs = as_tuple(function(*(Word(run, word, 0) for word in np.moveaxis(given, 2, 0))))
        found = [out.array for out in outputs if isinstance(out, Word)]
        return Execution(np.stack(found, axis=-1), run.traffic)


@dataclass(frozen=True)
class _Run:
    """One run: the machine and its traffic so far."""

    machine: Machine
    traffic: Traffic
    batch: int


def as_tuple(outputs: Any) -> tuple[Value, ...]:
    """The outputs of a program as a tuple; anything but values is refused."""
    found = tuple(outputs) if isinstance(outputs, tuple | list) else (outputs,)
    for value in found:
        if not isinstance(value, Value):
            raise OrdinateError(f"the program returns {type(value).__name__}: return a value or several")
    return found


class Word(Value):
    """A value as numbers: [batch, n], and the round after which it is there."""

    def __init__(self, run: _Run, array: Float[np.ndarray, "batch n"], ready: int) -> None:
        self.run, self.array, self.ready, self.n = run, array, ready, run.machine.n

    def _with(self, array: np.ndarray, *others: Value) -> "Word":
        ready = max([self.ready, *(other.ready for other in others if isinstance(other, Word))])
        return Word(self.run, array.astype(np.float64), ready)

    def _affine(
        self, factor: int | float, other: Value | None, other_factor: int | float, constant: int | float
    ) -> "Word":
        if other is None:
            return self._with(factor * self.array + constant)
        return self._with(factor * self.array + other_factor * _array(other) + constant, other)

    @override
    def relu(self) -> "Word":
        return self._with(np.maximum(self.array, 0))

    @override
    def minimum(self, other: Value) -> "Word":
        return self._with(np.minimum(self.array, _array(other)), other)

    @override
    def maximum(self, other: Value) -> "Word":
        return self._with(np.maximum(self.array, _array(other)), other)

    @override
    def clip(self, low: Number, high: Number) -> "Word":
        return self._with(np.clip(self.array, low, high))

    @override
    def exchange(self, low: Value, high: Value) -> "Word":
        smaller, larger = np.minimum(self.array, _array(low)), np.maximum(self.array, _array(high))
        if ((smaller != self.array) & (larger != self.array)).any():
            refuse("exchange is given two partners in one processor: one of low and high must be x itself")
        return self._with(np.where(smaller != self.array, smaller, larger), low, high)

    @override
    def lookup(self, table: Sequence[Number], first: int = 0) -> "Word":
        place = self.array - first
        if ((place != np.round(place)) | (place < 0) | (place >= len(table))).any():
            refuse(
                f"lookup of a number outside {first} .. {first + len(table) - 1}: give the table more entries"
            )
        return self._with(np.asarray(table, dtype=np.float64)[place.astype(int)])

    @override
    def select(self, yes: Value, no: Value) -> "Word":
        return self._with(np.where(self.array == 1, _array(yes), _array(no)), yes, no)

    @override
    def either(self, other: Value) -> "Word":
        if ((self.array != 0) & (_array(other) != 0)).any():
            refuse("either is given two numbers in one processor: one of them must be 0")
        return self._with(self.array + _array(other), other)

    @override
    def within(self, stated: Range) -> "Word":
        whole = not stated.whole or (self.array == np.round(self.array)).all()
        if not whole or (self.array < stated.low).any() or (self.array > stated.high).any():
            found = f"{self.array.min():g} .. {self.array.max():g}"
            refuse(f"the stated range is {stated}, but values are {found}: state a range that holds")
        return self

    def _positive(self) -> "Word":
        return self._with(self.array > 0)

    def _zero(self) -> "Word":
        return self._with(self.array == 0)

    def _constant(self, values: Float[np.ndarray, " n"]) -> "Word":
        return Word(self.run, np.broadcast_to(values, (self.run.batch, self.n)), 0)

    def _scaled(self, factors: Float[np.ndarray, " n"]) -> "Word":
        return self._with(self.array * factors)

    def _receive(self, source: Int[np.ndarray, " n"], default: float) -> "Word":
        number = self.ready + 1
        traffic, limit = self.run.traffic, self.run.machine.words
        traffic.add(number, source)
        if limit is not None:
            for verb, counts in (("sends", traffic.sent), ("receives", traffic.received)):
                words = counts[number - 1]
                if words.max() > limit:
                    refuse(
                        f"round {number}: processor {words.argmax()} {verb} {words.max()} words, but a processor has "
                        f"{limit}: spread the communication over more rounds"
                    )
        return Word(self.run, np.where(source >= 0, self.array[:, source], default), number)


def _array(value: Value) -> Float[np.ndarray, "batch n"]:
    assert isinstance(value, Word)
    return value.array
