"""Numbers in reports: three figures, whole numbers in full."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.evaluation.statistics import Interval
from ordinate.lab.report.numbers import show_interval, show_number, show_share


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0585, "0.0585"),
        (87.6, "87.6"),
        (100.0, "100"),
        (1498.4, "1498"),
        (123456.0, "1.23e5"),
        (1.7e-5, "1.7e-5"),
        (-0.25, "-0.25"),
        (0.0, "0"),
        (84577, "84577"),
        (None, "n/a"),
        (math.nan, "n/a"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
    ],
)
def test_reads_as_a_person_writes(value, text):
    assert show_number(value) == text


@given(st.floats(-1e12, 1e12).filter(lambda v: abs(v) > 1e-12))
def test_stays_within_half_a_percent(value):
    assert float(show_number(value)) == pytest.approx(value, rel=5.1e-3)


@given(st.integers(0, 1000))
def test_per_cents_are_never_more_than_there_is(right):
    assert int(show_share(right / 1000)) == right // 10


def test_an_interval_follows_its_estimate():
    assert show_interval(Interval(1.0, 0.5, math.inf, 0.95)) == "1 [0.5, ∞]"
    assert show_interval(Interval.unknown(0.95)) == "n/a [n/a, n/a]"
