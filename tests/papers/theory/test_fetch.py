"""Heads that fetch at an index: the places they are fitted over, and that one sum serves all indices."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import LIN, LOG
from ordinate.papers.theory.fetch import enough, indexed, proof_error
from ordinate.papers.theory.fits import fit
from ordinate.papers.theory.sums import indicator, series

BIASES = pytest.mark.parametrize("bias", [LIN, LOG], ids=lambda bias: bias.name)
SLOPES = {"lin": (1.0, 2.0, 3.0, 4.0, 5.0), "log": (3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0)}


def relative(bias, lag, index, furthest):
    return lag - index + furthest if bias is LIN else Fraction(lag * furthest, index)


@settings(max_examples=30)
@given(st.sampled_from([LIN, LOG]), st.sets(st.integers(1, 6), min_size=1), st.integers(7, 12))
def test_places_are_all_that_an_index_sees(bias, lags, length):
    seen = indexed(bias, sorted(lags), length)
    wanted = sorted({relative(bias, s, g, max(lags)) for g in lags for s in range(bias.first_lag, length)})
    found = seen.lags_at(seen.distances(np.arange(len(seen.places), dtype=np.float64)))
    np.testing.assert_allclose(found, [float(place) for place in wanted], atol=1e-9)
    assert found[seen.own] == pytest.approx(max(lags))
    exact = [float(seen.distance(place)) for place in range(len(seen.places))]
    np.testing.assert_allclose(exact, seen.distances(np.arange(len(exact), dtype=np.float64)), atol=1e-12)


@BIASES
@pytest.mark.parametrize("lags", [(1, 2), (2, 3), (3,)])
def test_one_sum_is_the_indicator_of_every_index(bias, lags):
    seen = indexed(bias, lags, 9)
    found = fit(seen, SLOPES[bias.name], seen.indicator)
    values = seen.values(found)
    for index in lags:
        error = 0.0
        for lag in range(bias.first_lag, 9):
            gap = lag - index if bias is LIN else math.log(lag / index)
            fetched = sum(v * math.exp(-p * gap) for v, p in zip(values, found.slopes, strict=True))
            error += abs(fetched - (lag == index))
        # coefficients and exponentials are rounded, and the former are large
        assert error <= found.error + 32 * sys.float_info.epsilon * max(found.roundings)
    assert found.error < 0.5


@BIASES
def test_the_series_of_the_proof_is_measured_at_the_places(bias):
    seen = indexed(bias, (1, 2), 6)
    places = {relative(bias, s, g, 2) for g in (1, 2) for s in range(bias.first_lag, 6)}
    built = series(indicator(2, bias), 8)
    wanted = sum(abs(float(built.kernel(np.array([float(u)]))[0]) - (u == 2)) for u in places)
    assert proof_error(seen, 8) == pytest.approx(wanted)


def test_what_cannot_be_is_refused():
    with pytest.raises(OrdinateError, match="lag 0 is out of range: log heads see lags from 1 on"):
        indexed(LOG, (0, 1), 5)
    with pytest.raises(OrdinateError, match="lag 5 is out of range: a sequence of 5 tokens has lags up to 4"):
        indexed(LIN, (1, 5), 5)
    seen = indexed(LIN, (1, 9), 12)
    with pytest.raises(OrdinateError, match="end with the sequence"):
        seen.tail(1.0, 3)
    with pytest.raises(
        OrdinateError, match=r"float64 cannot hold exp\(720\), the weight of a head of slope 80"
    ):
        seen.values(fit(seen, [1.0, 80.0], seen.indicator))


def test_what_would_be_enough():
    assert "heads and" in enough(indexed(LOG, (2, 3), 8), 0.1)
    assert enough(indexed(LOG, range(1, 13), 16), 0.1) == "take more heads, or nearer lags"
