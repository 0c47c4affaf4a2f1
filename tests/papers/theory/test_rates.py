"""The rates of the memories paper, against the formulas written out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import BIASES, LIN, LOG
from ordinate.papers.theory.rates import (
    deep_rate,
    depth_saves,
    dot_product_rate,
    essential_rate,
    ffn_rate,
    fixed_rate,
    head_split,
    nested_condition,
    nested_rate,
    orders,
    required_depth,
    required_width,
)

biases = st.sampled_from(list(BIASES.values()))
lag_sets = st.lists(st.integers(1, 60), min_size=1, max_size=5, unique=True)
GROWTH = {"lin": lambda lag: math.exp(0.01 * lag), "log": lambda lag: lag**1.01}


@given(biases, lag_sets, st.integers(1, 64), st.integers(1, 4))
def test_fixed_memories_as_theorem_3_1(bias, lags, heads, order):
    growths = [GROWTH[bias.name](lag) for lag in lags]
    assert fixed_rate(lags, heads, order, bias) == pytest.approx(sum(growths) ** (order + 1) / heads**order)


@given(biases, lag_sets, st.integers(1, 64), st.integers(1, 4), st.data())
def test_nested_memories_as_theorem_4_4(bias, lags, heads, order, data):
    nesting = data.draw(st.integers(0, len(lags)))
    growths = [GROWTH[bias.name](lag) for lag in lags]
    inner = sum(g ** (2 * (order + 1)) for g in growths[:nesting])
    outer = sum(growths[nesting:]) ** (2 * order + 2)
    expected = math.sqrt(inner + outer) / heads**order
    assert nested_rate(lags, nesting, heads, order, bias) == pytest.approx(expected)
    inner_rate = math.sqrt(inner) / heads**order
    assert nested_condition(lags, nesting, heads, order, bias, 1.5) == (inner_rate <= 1 / 6)


@given(biases, lag_sets, st.integers(1, 64), st.integers(1, 4))
def test_depth_never_costs_heads(bias, lags, heads, order):
    """Proposition 4.5 against Theorem 4.1, and the ratio of heads that goes with it."""
    deep, flat = deep_rate(lags, heads, order, bias), fixed_rate(lags, heads, order, bias)
    assert deep <= flat * (1 + 1e-12)
    _, saved = depth_saves([1.0] * len(lags), [bias.growth(lag) for lag in lags], order)
    assert (deep / flat) ** (1 / order) <= saved * (1 + 1e-9)
    assert saved <= 1 + 1e-12


@given(biases, lag_sets, st.integers(0, 60))
def test_heads_are_split_as_in_the_proof(bias, lags, more):
    heads = len(lags) + more
    split = head_split(heads, lags, bias)
    growths = [GROWTH[bias.name](lag) for lag in lags]
    wanted = [heads * growth / sum(growths) for growth in growths]
    assert sum(split) == heads
    assert min(split) >= 1
    if min(wanted) >= 1:
        assert all(abs(given - want) < 1 for given, want in zip(split, wanted, strict=True))


@pytest.mark.parametrize(("nesting", "memories"), [(0, 1), (0, 4), (1, 1), (2, 3), (3, 3), (3, 7)])
def test_depth_is_one_layer_a_nesting_and_one_for_the_others(nesting, memories):
    assert required_depth(nesting, memories) == (nesting + 2 if memories > nesting else nesting + 1)


def test_widths_of_the_three_theorems():
    norms, lags = [1.0, 3.0, 2.0, 5.0], [2, 1, 4, 1]
    assert required_width(norms) == 1 + 9 + 4 + 25
    assert required_width(norms, nesting=2) == 4 + 25
    assert required_width(norms, nesting=4) == 25
    assert required_width(norms, deep=True) == 25
    assert required_width(norms, lags=lags, deep=True) == 64
    assert required_width(norms, 3, lags) == 64


def test_essential_memories_as_theorem_5_1():
    assert essential_rate(3, 12, 2, 0.5, LIN) == pytest.approx(3**3 / 12**2)
    assert orders(1.0, LIN) == range(1, 100)
    assert orders(3.1, LOG) == range(1, 3)
    assert ffn_rate(100, 3.0) == pytest.approx(0.3)
    assert dot_product_rate(4) == 0.25


def test_costs_that_no_float_holds_are_infinite():
    assert fixed_rate([200_000], 4, 1, LIN) == math.inf
    assert math.isfinite(fixed_rate([200_000], 4, 1, LOG))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fixed_rate([0], 4, 1, LOG), "lag 0 is out of range: log heads see lags from 1 on"),
        (lambda: fixed_rate([2, 2], 4, 1, LIN), "repeat"),
        (lambda: fixed_rate([], 4, 1, LIN), "at least one"),
        (lambda: fixed_rate([2], 0, 1, LIN), "0 heads"),
        (lambda: fixed_rate([2], 1, 0, LIN), "order 0 is out of range"),
        (lambda: head_split(1, [2, 5], LIN), "take 2 or more"),
        (lambda: required_depth(3, 2), "nesting of 3"),
        (lambda: required_width([1.0], lags=[1, 2]), "1 norms and 2 lags"),
        (lambda: orders(0.5, LOG), "not summable, which Theorem 5.1 needs: take b above 1"),
        (lambda: orders(0.0, LIN), "not summable"),
        (lambda: orders(1.5, LOG), r"take b above 2\.02"),
        (lambda: orders(0.005, LIN), r"take b above 0\.0101"),
        (lambda: essential_rate(1, 8, 3, 3.0, LOG), "allows 1 to 1"),
        (lambda: essential_rate(0, 8, 1, 3.0, LOG), "0 memories"),
        (lambda: ffn_rate(0), "width 0"),
    ],
)
def test_what_the_theorems_do_not_cover_is_refused(call, words):
    with pytest.raises(OrdinateError, match=words):
        call()
