"""Best sums of heads: against plain solvers where those are good enough, and beyond where they are not."""

import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import BIASES, LIN, LOG, LOG_SHIFTED
from ordinate.papers.theory.fits import FLOAT64, fit, quick_cost
from ordinate.papers.theory.norms import L1, L2, NORMS, SUP

ALL = [LIN, LOG, LOG_SHIFTED]
SPREAD = [0.3, 1.1, 2.5]


def heads_of(bias, slopes, length, start=0):
    lags = range(max(bias.first_lag, start), length)
    return np.array([[float(bias.weight(p, s)) for p in slopes] for s in lags])


def plain(norm, heads, kernel):
    """The least norm of kernel - heads a, by the textbook programs."""
    lags, count = heads.shape
    if norm is L2:
        return np.sqrt(np.linalg.lstsq(heads, kernel, rcond=None)[1][0])
    held = np.eye(lags) if norm is L1 else np.ones((lags, 1))
    limits = held.shape[1]
    solved = linprog(
        [0] * count + [1] * limits,
        A_ub=np.block([[heads, -held], [-heads, -held]]),
        b_ub=np.concatenate([kernel, -kernel]),
        bounds=[(None, None)] * (count + limits),
    )
    return solved.fun


@pytest.mark.parametrize("bias", ALL, ids=lambda bias: bias.name)
@pytest.mark.parametrize("norm", NORMS.values(), ids=lambda norm: norm.name)
def test_the_best_fit_is_that_of_plain_programs(bias, norm):
    random = np.random.default_rng(1)
    kernels = random.normal(size=(2, 12))
    kernels[:, : bias.first_lag] = 0
    found = fit(bias, SPREAD, kernels, norm=norm)
    heads = heads_of(bias, SPREAD, 12)
    for row, error, kernel in zip(
        found.coefficients, found.errors, kernels[:, bias.first_lag :], strict=True
    ):
        assert error == pytest.approx(plain(norm, heads, kernel), rel=1e-7)
        assert error == pytest.approx(norm.size(kernel - heads @ np.array(row, dtype=float)), rel=1e-9)
    sizes = heads.sum(0)
    expected = [float(np.abs(np.array(row, dtype=float)) @ sizes) for row in found.coefficients]
    assert found.roundings == pytest.approx(expected)
    assert found.largest == pytest.approx(max(abs(float(a)) for row in found.coefficients for a in row))


@given(
    st.sampled_from(list(BIASES.values())),
    st.floats(0.05, 3.0),
    st.floats(0.01, 1.0),
    st.integers(1, 6),
    st.integers(1, 11),
)
@settings(max_examples=10)
def test_error_and_rounding_are_never_worse_than_no_model(bias, first, step, heads, lag):
    kernels = np.eye(12)[[lag]]
    slopes = [first + step * k for k in range(heads)]
    found = fit(bias, slopes, kernels)
    assert found.cost() <= 1 + 1e-9
    assert found.held_by(FLOAT64)
    assert quick_cost(bias, np.array(slopes), kernels) == pytest.approx(found.cost(), rel=0.05, abs=1e-9)


def test_as_many_heads_as_lags_fetch_exactly_given_the_digits():
    """12 heads of nearby slopes over 12 lags: nothing in float64, everything in 120 digits."""
    slopes, kernels = LIN.paper_slopes(12), np.eye(12)[[6]]
    wall = fit(LIN, slopes, kernels)
    free = fit(LIN, slopes, kernels, digits=120.0)
    assert wall.error > 0.9
    assert free.error < 1e-12
    assert free.digits > FLOAT64
    assert not free.held_by(FLOAT64)
    assert free.largest > 1e16


def test_more_digits_never_raise_the_error():
    errors = [
        fit(LIN, LIN.progression(2.0, 0.5, 8), np.eye(24)[[5]], digits=d).cost(d) for d in (7.2, 15.95, 30.0)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 100 * errors[2]


def test_lags_before_the_start_do_not_count():
    kernel = np.concatenate([[np.inf], np.exp(-0.7 * np.arange(1, 20))])[None]
    found = fit(LIN, [0.7], kernel, start=1, norm=L2)
    assert found.error < 1e-12
    assert float(found.coefficients[0][0]) == pytest.approx(1)


@pytest.mark.parametrize("bias", [LIN, LOG], ids=lambda bias: bias.name)
def test_what_an_endless_past_adds(bias):
    found = fit(bias, [3.5, 4.5, 5.0], np.eye(6)[[2, 3]], norm=L2)
    with mpmath.workdps(30):
        slow = [
            float(
                sum(
                    abs(sum(a * bias.weight(p, s) for a, p in zip(row, found.slopes, strict=True)))
                    for s in range(6, 300)
                )
            )
            for row in found.coefficients
        ]
    assert found.endless() == pytest.approx(slow, rel=1e-3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: fit(LIN, [], np.eye(4)[[1]]), "0 heads are out of range"),
        (lambda: fit(LIN, [0.1] * 300, np.eye(4)[[1]]), "a fit takes 1 to 256"),
        (lambda: fit(LIN, [1.0, 1.0], np.eye(4)[[1]]), "two heads of one slope"),
        (lambda: fit(LIN, [0.0], np.eye(4)[[1]]), "above 0"),
        (lambda: fit(LOG, [1.0], np.eye(4)[[0]]), "lag 0 of the kernel is out of range: log heads"),
        (lambda: fit(LOG, [1.0], np.zeros((1, 1))), "0 lags are out of range"),
        (lambda: fit(LIN, [1.0], np.full((1, 3), np.inf)), "not finite"),
    ],
)
def test_what_cannot_be_fitted_is_refused(call, words):
    with pytest.raises(OrdinateError, match=words):
        call()


def test_without_the_extra_the_error_says_what_to_install(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "mpmath", None)
        with pytest.raises(OrdinateError, match=r"mpmath: write pip install 'ordinate\[theory\]'"):
            fit(LIN, [1.0], np.eye(4)[[1]])
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(OrdinateError, match=r"scipy: write pip install 'ordinate\[theory\]'"):
        fit(LIN, [1.0], np.eye(4)[[1]])


@pytest.mark.parametrize("norm", [L1, SUP], ids=lambda norm: norm.name)
def test_refinement_reaches_below_the_tolerance_of_one_program(norm, monkeypatch):
    """Lag 1 of 8 heads with large slopes is fetched to 1e-11; one linear program is content with 1e-8."""
    slopes, kernels = np.array(LIN.progression(2.7, 0.49, 8)), np.eye(16)[[1]]
    refined = quick_cost(LIN, slopes, kernels, norm=norm)
    assert refined < 1e-11
    assert fit(LIN, slopes.tolist(), kernels, norm=norm).cost() == pytest.approx(refined, rel=0.1)
    monkeypatch.setattr("ordinate.papers.theory.norms.REFINEMENTS", 1)
    assert quick_cost(LIN, slopes, kernels, norm=norm) > 100 * refined
