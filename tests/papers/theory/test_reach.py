"""What heads with free slopes can express, against high precision and against figures computed elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import LIN, LOG, LOG_SHIFTED
from ordinate.papers.theory.fits import fit
from ordinate.papers.theory.norms import L2
from ordinate.papers.theory.slopes import best_exact, best_slopes, exact_mse

LAGS = np.arange(1000.0)
HEAVY = np.concatenate([[0.0], LAGS[1:] ** -0.5])
LIGHT = np.exp(-5 * LAGS)


@given(
    st.lists(st.floats(0.5, 3.0), min_size=1, max_size=3, unique_by=lambda p: round(p, 1)),
    st.lists(st.floats(-1, 1), min_size=1, max_size=6),
)
@settings(max_examples=5)
def test_the_closed_form_is_the_projection(slopes, kernel):
    """Against normal equations in 60 digits over lags enough for all weights to have vanished."""
    padded = np.zeros((1, 60))
    padded[0, : len(kernel)] = kernel
    exact = fit(LIN, slopes, padded, digits=60.0, norm=L2).error ** 2
    assert exact_mse(slopes, np.array(kernel)) == pytest.approx(exact, rel=1e-6, abs=1e-12)


def test_the_paper_s_slopes_at_the_paper_s_lags():
    """48 + 56 + 99 with slopes 0.01 (k + 1): the coefficients would take 75 digits and more."""
    kernel = np.eye(100)[[48, 56, 99]].sum(0)
    assert exact_mse(LIN.paper_slopes(32), kernel) == pytest.approx(2.670, abs=1e-3)
    assert exact_mse(LIN.paper_slopes(100), kernel) == pytest.approx(1.957, abs=1e-3)


@pytest.mark.parametrize(("heads", "most"), [(4, 0.9855), (8, 0.973), (16, 0.948)])
def test_a_lag_of_99_stays_out_of_reach_of_few_heads(heads, most):
    error, slopes = best_exact(heads, np.eye(100)[99])
    assert most - 0.01 < error <= most
    assert error == pytest.approx(exact_mse(slopes, np.eye(100)[99]))
    assert len(slopes) == heads


@pytest.mark.parametrize(("heads", "known"), [(1, 1.87), (2, 0.212), (3, 0.020)])
def test_lin_heads_express_a_heavy_tail(heads, known):
    """t^-0.5 over lags 1 .. 999: training reached 0.19 with 64 of them."""
    assert best_slopes(LIN, heads, HEAVY, start=1).error ** 2 == pytest.approx(known, rel=0.03)


@pytest.mark.parametrize(("heads", "known"), [(1, 1.0e-7), (2, 5.3e-9)])
def test_shifted_log_heads_express_a_light_tail(heads, known):
    assert best_slopes(LOG_SHIFTED, heads, LIGHT).error ** 2 == pytest.approx(known, rel=0.03)


def test_each_bias_expresses_its_own_tail_with_one_head():
    heavy = best_slopes(LOG, 1, HEAVY)
    assert (heavy.slopes[0], heavy.error) == (pytest.approx(0.5), pytest.approx(0, abs=1e-9))
    light = best_slopes(LIN, 1, LIGHT)
    assert (light.slopes[0], light.error) == (pytest.approx(5.0), pytest.approx(0, abs=1e-9))


def test_without_a_shift_log_heads_miss_lag_0():
    with pytest.raises(OrdinateError, match="lag 0 of the kernel is out of range"):
        best_slopes(LOG, 1, LIGHT)
    assert best_slopes(LOG, 1, LIGHT, start=1).error ** 2 < 4.5e-5  # the stream carries x_t
