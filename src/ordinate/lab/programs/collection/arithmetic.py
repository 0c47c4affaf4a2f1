"""Arithmetic on digits: processor i holds the digits of place 10^i, the last place first.

Carries are a scan. A place *generates* a carry (g), or *propagates* one (p), never both; a stretch of places does so
too, and a lower stretch b and a higher one a join as g = g_a or (p_a and g_b), p = p_a and p_b. Since g_a and p_a
exclude each other, the first is the threshold 2 g_a + p_a + g_b >= 2: one ReLU deep.
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from ordinate.lab.programs.language import Range, Value, broadcast, clip, lookup, powers, shift
from ordinate.lab.programs.machine import Function
from ordinate.lab.programs.program import Hard, Outputs, Program, Reference, Words

DIGIT = Range(0, 9, whole=True)

Digits = Float[np.ndarray, "batch n"]


def carries(generates: Value, propagates: Value) -> Value:
    """Whether a carry leaves each place (carry look-ahead)."""
    g, p = generates, propagates
    for step in powers(g.n):
        g, p = lookup(2 * g + p + shift(g, step), [0, 0, 1, 1, 1]), p & shift(p, step)
    return g


def settle(digits: Value) -> tuple[Value, Value]:
    """Digits from sums of at most 19 a place, and the carry that leaves each place."""
    carry = carries(digits > 9, digits == 9)
    return (digits + shift(carry, 1) - 10 * carry).within(DIGIT), carry


def addition(a: Value, b: Value) -> tuple[Value, Value]:
    """The digits of a + b, and the carry that leaves each place."""
    return settle(a + b)


def subtraction(a: Value, b: Value) -> tuple[Value, Value]:
    """The digits of a - b, and the borrow that leaves each place (the last one tells that a < b)."""
    difference = a - b
    borrow = carries(difference < 0, difference == 0)
    return (difference - shift(borrow, 1) + 10 * borrow).within(DIGIT), borrow


def comparison(a: Value, b: Value) -> Value:
    """The sign of a - b, as far as the places up to i tell: the higher place decides unless it is equal."""
    sign = clip(a - b, -1, 1)
    for step in powers(a.n):
        sign = clip(2 * sign + shift(sign, step), -1, 1)
    return sign


def carry_save(sums: Value, largest: int) -> tuple[Value, Value]:
    """Move the tens of every place one place up, once: sums of at most q become at most 9 + q // 10.

    Returns the new sums, and the tens that leave each place.
    """
    tens = lookup(sums, [k // 10 for k in range(largest + 1)])
    return (sums - 10 * tens + shift(tens, 1)).within(Range(0, 9 + largest // 10, whole=True)), tens


def several(*numbers: Value) -> tuple[Value, Value]:
    """The digits of a sum of several numbers, and what leaves each place: carry-save, then look-ahead."""
    sums, tens = carry_save(sum(numbers[1:], numbers[0]), 9 * len(numbers))
    digits, carry = settle(sums)
    return digits, tens + carry


def products(a: Value, digit: Value) -> Value:
    """a_i * digit, from the table of 10 a_i + digit."""
    return lookup(10 * a + digit, [k // 10 * (k % 10) for k in range(100)])


def times_digit(a: Value, b: Value) -> Value:
    """The last n digits of a * b_0, the last digit of b."""
    sums, _ = carry_save(products(a, broadcast(b, 0)), 81)
    return settle(sums)[0]


def times_three_digits(a: Value, b: Value) -> Value:
    """The last n digits of a * (b_2 b_1 b_0): three rows of products, moved to their places and added."""
    rows = [shift(products(a, broadcast(b, k)), k) for k in range(3)]
    largest = 3 * 81
    sums, _ = carry_save(rows[0] + rows[1] + rows[2], largest)
    sums, _ = carry_save(sums, 9 + largest // 10)
    return settle(sums)[0]


def as_integers(digits: Digits) -> list[int]:
    """The numbers that rows of digits [batch, n] write, the last place first."""
    return [int("".join(map(str, row))) for row in digits[:, ::-1].astype(int).tolist()]


def as_digits(numbers: list[int], n: int) -> Digits:
    """The last n digits of whole numbers, the last place first."""
    texts = [str(number % 10**n).zfill(n)[::-1] for number in numbers]
    return np.array([list(map(float, text)) for text in texts])


def _sums(inputs: Words) -> Outputs:
    """Digits of the sum, and the carry out of place i: what the lower places make beyond 10^{i+1}."""
    numbers = [as_integers(inputs[..., k]) for k in range(inputs.shape[2])]
    digits = as_digits([sum(row) for row in zip(*numbers, strict=True)], inputs.shape[1])
    return np.stack([digits, _leaving(inputs.sum(2), digits)], axis=-1)


def _leaving(sums: Digits, digits: Digits) -> Digits:
    """What leaves each place: 10 c_i = s_i + c_{i-1} - digit_i, from the last place up."""
    carry, found = np.zeros(len(sums)), []
    for k in range(sums.shape[1]):
        carry = (sums[:, k] + carry - digits[:, k]) / 10
        found.append(carry)
    return np.stack(found, axis=1)


def _differences(inputs: Words) -> Outputs:
    a, b = as_integers(inputs[..., 0]), as_integers(inputs[..., 1])
    digits = as_digits([x - y for x, y in zip(a, b, strict=True)], inputs.shape[1])
    return np.stack([digits, -_leaving(inputs[..., 0] - inputs[..., 1], digits)], axis=-1)


def _comparisons(inputs: Words) -> Outputs:
    found = np.zeros(len(inputs))
    signs = []
    for k in range(inputs.shape[1]):
        here = np.sign(inputs[:, k, 0] - inputs[:, k, 1])
        found = np.where(here != 0, here, found)
        signs.append(found)
    return np.stack(signs, axis=1)[..., None]


def _products(places: int) -> Reference:
    def reference(inputs: Words) -> Outputs:
        a, b = as_integers(inputs[..., 0]), as_integers(inputs[:, :places, 1])
        return as_digits([x * y for x, y in zip(a, b, strict=True)], inputs.shape[1])[..., None]

    return reference


def cascades(numbers: int) -> Hard:
    """Nines everywhere; nines and a one at every kind of place; nines that end in the middle."""

    def hard(n: int) -> list[Words]:
        rows = []
        for length in sorted({1, 2, n // 2, n - 1, n} - {0}):
            for start in sorted({0, (n - length) // 2, n - length}):
                row = np.zeros((n, numbers))
                row[start : start + length, 0] = 9
                row[start, 1] = 1
                rows += [row, row[:, ::-1]]
        return [np.array(rows), np.full((1, n, numbers), 9.0)]

    return hard


def _of_digits(
    name: str, summary: str, function: Function, reference: Reference, numbers: int = 2, **facts: Any
) -> Program:
    facts = {"words": numbers, "hard": cascades(numbers), **facts}
    return Program(name, summary, function, (DIGIT,) * numbers, reference, **facts)


ARITHMETIC = (
    _of_digits("addition", "digits and carries of a + b (carry look-ahead)", addition, _sums),
    _of_digits("subtraction", "digits and borrows of a - b", subtraction, _differences),
    _of_digits("comparison", "sign of a - b from the places up to each", comparison, _comparisons),
    _of_digits(
        "several",
        "digits and carries of a sum of four numbers (carry-save)",
        several,
        _sums,
        numbers=4,
    ),
    _of_digits("times-digit", "digits of a number times one digit", times_digit, _products(1)),
    _of_digits(
        "times-three-digits",
        "digits of a number times three digits",
        times_three_digits,
        _products(3),
        words=3,
        shortest=3,
    ),
)
