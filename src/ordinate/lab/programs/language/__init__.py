"""The language of programs: values with their operators, ranges, and the functions on values that are here.

>>> from ordinate.lab.programs.machine import Machine
>>> def prefix_sum(x):
...     for step in powers(x.n):
...         x = x + receive(x, source=lambda i: i - step, default=0)
...     return x
>>> Machine(4).run(prefix_sum, [[1, 2, 3, 4]]).outputs[0, :, 0].tolist()
[1.0, 3.0, 6.0, 10.0]
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from ordinate.lab.programs.language.ranges import FLAG, Range, refuse
from ordinate.lab.programs.language.value import OWN, Number, Own, Places, Value

__all__ = [
    "FLAG",
    "OWN",
    "Range",
    "Value",
    "absolute",
    "all_of",
    "any_of",
    "broadcast",
    "butterfly",
    "clip",
    "gather",
    "lookup",
    "maximum",
    "minimum",
    "permute",
    "powers",
    "receive",
    "relu",
    "select",
    "shift",
]


def powers(n: int) -> list[int]:
    """1, 2, 4, ... below n: the steps of a loop of ceil(log2 n) rounds.

    >>> powers(5), powers(8), powers(1)
    ([1, 2, 4], [1, 2, 4], [])
    """
    return [1 << k for k in range((n - 1).bit_length())]


def receive(value: Value, source: Places, default: Number | Own = 0) -> Value:
    """The value of processor source(position); the default where that is None or no processor, OWN for one's own."""
    return value.receive(source, default)


def shift(value: Value, steps: int, default: Number | Own = 0) -> Value:
    """The value of the processor `steps` places before."""
    return value.receive(np.arange(value.n) - steps, default)


def butterfly(value: Value, step: int, default: Number | Own = 0) -> Value:
    """The value of processor position XOR step."""
    return value.receive(np.arange(value.n) ^ step, default)


def permute(value: Value, order: Sequence[int]) -> Value:
    """Processor i gets the value of processor order[i], where order is a permutation."""
    if sorted(order) != list(range(value.n)):
        refuse(f"permute needs every processor once: write an order of 0 .. {value.n - 1}, or gather")
    return value.receive(list(order))


def gather(value: Value, places: Places, default: Number | Own = 0) -> Value:
    """Processor i gets the value of processor places[i]; one processor may be read by many."""
    return value.receive(places, default)


def broadcast(value: Value, root: int = 0) -> Value:
    """The value of one processor, in all of them: a tree of ceil(log2 n) rounds, one word a processor and round."""
    n = value.n
    place = np.arange(n)
    distance = (place - root) % n
    for step in powers(n):
        new = (step <= distance) & (distance < 2 * step)  # who did not know it, and has somebody to ask
        value = value.receive(np.where(new, (place - step) % n, place))
    return value


def minimum(first: Value, *others: Any) -> Value:
    """The smallest of several values or numbers."""
    return reduce(lambda a, b: a.minimum(_as_value(b, a)), others, first)


def maximum(first: Value, *others: Any) -> Value:
    """The largest of several values or numbers."""
    return reduce(lambda a, b: a.maximum(_as_value(b, a)), others, first)


def absolute(value: Value) -> Value:
    """|x|."""
    return value.maximum(-value).within(Range(low=0))


def relu(value: Value) -> Value:
    """max(x, 0)."""
    return value.relu()


def clip(value: Value, low: Number, high: Number) -> Value:
    """The nearest number in [low, high]."""
    return value.clip(low, high)


def select(condition: Value, yes: Any, no: Any) -> Value:
    """`yes` where the condition holds, `no` elsewhere; both may be numbers."""
    return condition.select(_as_value(yes, condition), _as_value(no, condition))


def lookup(value: Value, table: Sequence[Number], first: int = 0) -> Value:
    """table[value - first], for a whole number whose range the table covers."""
    return value.lookup(table, first)


def any_of(*conditions: Value) -> Value:
    """Whether at least one of several conditions holds."""
    return sum(conditions[1:], conditions[0]).lookup([0] + [1] * len(conditions))


def all_of(*conditions: Value) -> Value:
    """Whether all of several conditions hold."""
    return sum(conditions[1:], conditions[0]).lookup([0] * len(conditions) + [1])


def _as_value(number: Any, like: Value) -> Value:
    return number if isinstance(number, Value) else 0 * like + number
