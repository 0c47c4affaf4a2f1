"""Digits against Python's whole numbers."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.tasks.arithmetic.digits import (
    PAD,
    add,
    below,
    multiply,
    read,
    settle,
    strip,
    subtract,
    to_digits,
    to_numbers,
)

lengths = st.one_of(st.integers(1, 60), st.sampled_from([15, 16, 30, 31, 1000]))


@st.composite
def numbers(draw, count):
    """Numbers of some length, all nines and powers of ten among them."""
    length = draw(lengths)
    one = st.one_of(
        st.integers(0, 10**length - 1),
        st.integers(0, length).map(lambda n: 10**n - 1),
        st.integers(0, length - 1).map(lambda n: 10**n),
    )
    return length, draw(st.lists(one, min_size=count, max_size=count))


@given(numbers(3))
def test_round_trip(case):
    length, values = case
    assert to_numbers(to_digits(values, length)) == values
    assert to_numbers(strip(to_digits(values, length))) == values


@given(numbers(9), st.integers(2, 9))
def test_add(case, count):
    length, values = case
    digits = [to_digits([value], length) for value in values[:count]]
    assert to_numbers(add(digits, length + 1)) == [sum(values[:count])]


@given(numbers(2))
def test_subtract(case):
    length, (a, b) = case
    difference = to_numbers(subtract(to_digits([a], length), to_digits([b], length), length + 1))
    assert difference == [(a - b) % 10 ** (length + 1)]


@given(numbers(1), st.integers(0, 999))
def test_multiply(case, multiplier):
    length, (value,) = case
    product = multiply(to_digits([multiplier], 3), to_digits([value], length), length + 3)
    assert to_numbers(product) == [multiplier * value]


@given(numbers(2))
def test_below(case):
    length, (a, b) = case
    assert below(to_digits([a], length), to_digits([b], length)).tolist() == [a < b]


@given(numbers(1))
def test_strip_leaves_what_a_person_writes(case):
    length, (value,) = case
    row = strip(to_digits([value], length))[0]
    assert "".join(map(str, reversed(row[row != PAD].tolist()))) == str(value)
    assert (row[len(str(value)) :] == PAD).all()


def test_settle_drops_what_is_above():
    assert settle(torch.tensor([[9, 19]]), 2).tolist() == [[9, 9]]
    assert settle(torch.tensor([[25]]), 20)[0, :3].tolist() == [5, 2, 0]


def test_signs_and_pads_read_as_zero():
    assert read(torch.tensor([3, 10, 11, 41])).tolist() == [3, 0, 0, 0]


def test_a_number_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="more than 2 digits"):
        to_digits([123], 2)
