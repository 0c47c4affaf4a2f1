"""Prefix scans, reductions, windows: what n numbers tell each other in ceil(log2 n) rounds."""

from typing import Any

import numpy as np
from jaxtyping import Float

from ordinate.lab.programs.language import (
    FLAG,
    OWN,
    Range,
    Value,
    broadcast,
    lookup,
    maximum,
    minimum,
    powers,
    shift,
)
from ordinate.lab.programs.machine import Function
from ordinate.lab.programs.program import Outputs, Program, Reference, Words, everywhere

NUMBERS = Range(-100, 100, whole=True)
LETTERS = 4


def prefix_sum(x: Value) -> Value:
    """y_i = x_0 + ... + x_i (Hillis and Steele 1986)."""
    for step in powers(x.n):
        x = x + shift(x, step)
    return x


def prefix_min(x: Value) -> Value:
    """y_i = min(x_0, ..., x_i)."""
    for step in powers(x.n):
        x = minimum(x, shift(x, step, OWN))
    return x


def prefix_max(x: Value) -> Value:
    """y_i = max(x_0, ..., x_i)."""
    for step in powers(x.n):
        x = maximum(x, shift(x, step, OWN))
    return x


def total(x: Value) -> Value:
    """The sum of all numbers, in every processor: reduce, then broadcast."""
    return broadcast(prefix_sum(x), x.n - 1)


def largest(x: Value) -> Value:
    """The largest of all numbers, in every processor."""
    return broadcast(prefix_max(x), x.n - 1)


def window_sum(x: Value) -> Value:
    """y_i = x_{i-2} + x_{i-1} + x_i."""
    return x + shift(x, 1) + shift(x, 2)


def window_max(x: Value) -> Value:
    """y_i = max(x_{i-2}, x_{i-1}, x_i)."""
    near = maximum(x, shift(x, 1, OWN))
    return maximum(near, shift(near, 1, OWN))


def max_subarray(x: Value) -> Value:
    """The largest sum of neighbours that ends at or before i.

    A scan of 4-tuples of a stretch: its sum, the best start, the best end, the best inside; all of them x at first.
    Neighbours a and b join as (a + b, max(start_a, a + start_b), max(end_b, b + end_a),
    max(best_a, best_b, end_a + start_b)).
    Before the first number lies the empty stretch: sum 0, and the lowest number instead of minus infinity, which is
    enough since start >= x_0, end >= x_i and best >= start, end.
    """
    lowest = NUMBERS.low
    whole = start = end = best = x
    for step in powers(x.n):
        sum_before = shift(whole, step)
        start_before, end_before, best_before = (shift(v, step, lowest) for v in (start, end, best))
        best = maximum(best, best_before, end_before + start)
        start = maximum(start_before, sum_before + start)
        end = maximum(end, whole + end_before)
        whole = sum_before + whole
    return best


def parity(x: Value) -> Value:
    """Whether an odd number of ones stands at or before i."""
    for step in powers(x.n):
        x = x ^ shift(x, step)
    return x


def histogram(x: Value) -> tuple[Value, ...]:
    """How often each of four letters occurs, in every processor."""
    return tuple(total(lookup(x, np.eye(LETTERS)[letter].tolist())) for letter in range(LETTERS))


def _max_subarray(inputs: Words) -> Outputs:
    best = ending = inputs[:, 0]
    found = [best]
    for x in np.moveaxis(inputs, 1, 0)[1:]:
        ending = np.maximum(ending + x, x)
        best = np.maximum(best, ending)
        found.append(best)
    return np.stack(found, axis=1)


def _window(inputs: Words, blank: float) -> Float[np.ndarray, "batch n 3"]:
    """[batch, n, 3]: the last three numbers, blank before the first."""
    padded = np.pad(inputs[..., 0], ((0, 0), (2, 0)), constant_values=blank)
    return np.lib.stride_tricks.sliding_window_view(padded, 3, axis=1)


def _histogram(inputs: Words) -> Outputs:
    counts = np.stack([(inputs[..., 0] == letter).sum(1) for letter in range(LETTERS)], axis=-1)
    return everywhere(counts[:, None].astype(np.float64), inputs.shape[1])


def _slopes(n: int) -> list[Words]:
    """Rising, falling and alternating numbers of full size, and one large number at either end."""
    place = np.arange(n)
    rows = [
        np.round(np.linspace(-100, 100, n)),
        np.round(np.linspace(100, -100, n)),
        np.where(place % 2 == 0, 100.0, -100.0),
        np.where(place == 0, 100.0, -100.0),
        np.where(place == n - 1, 100.0, -100.0),
    ]
    return [np.array(rows)[..., None]]


def _of_numbers(name: str, summary: str, function: Function, reference: Reference, **facts: Any) -> Program:
    return Program(name, summary, function, (NUMBERS,), reference, hard=_slopes, **facts)


SCANS = (
    _of_numbers(
        "prefix-sum", "sum of the numbers so far", prefix_sum, lambda x: np.cumsum(x, axis=1), task="sum"
    ),
    _of_numbers(
        "prefix-min",
        "smallest number so far",
        prefix_min,
        lambda x: np.minimum.accumulate(x, axis=1),
        task="min",
    ),
    _of_numbers(
        "prefix-max",
        "largest number so far",
        prefix_max,
        lambda x: np.maximum.accumulate(x, axis=1),
        task="max",
    ),
    _of_numbers(
        "total",
        "sum of all numbers, everywhere (reduce and broadcast)",
        total,
        lambda x: everywhere(x.sum(1, keepdims=True), x.shape[1]),
    ),
    _of_numbers(
        "largest",
        "largest of all numbers, everywhere",
        largest,
        lambda x: everywhere(x.max(1, keepdims=True), x.shape[1]),
    ),
    _of_numbers(
        "window-sum",
        "sum of the last three numbers",
        window_sum,
        lambda x: _window(x, 0.0).sum(-1, keepdims=True),
        words=2,
    ),
    _of_numbers(
        "window-max",
        "largest of the last three numbers",
        window_max,
        lambda x: _window(x, -np.inf).max(-1, keepdims=True),
    ),
    _of_numbers(
        "max-subarray",
        "largest sum of neighbours so far",
        max_subarray,
        _max_subarray,
        words=4,
        task="max-subarray",
    ),
    Program(
        "parity",
        "whether the ones so far are odd in number",
        parity,
        (FLAG,),
        lambda x: np.cumsum(x, axis=1) % 2,
    ),
    Program(
        "histogram",
        "how often each of four letters occurs, everywhere",
        histogram,
        (Range(0, LETTERS - 1, whole=True),),
        _histogram,
        words=LETTERS,
    ),
)
