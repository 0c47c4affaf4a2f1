"""Searched slopes, and what a lag takes."""

import math

import mpmath
import numpy as np
import pytest

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import LIN, LOG, find_bias
from ordinate.papers.theory.fetch import needs, vanishing_sums
from ordinate.papers.theory.fits import FLOAT64, fit
from ordinate.papers.theory.slopes import lag_kernels, optimise_slopes, told_apart


@pytest.mark.parametrize(("bias", "reached"), [(LIN, 1e-5), (LOG, 1e-3)], ids=["lin", "log"])
def test_searched_slopes_beat_those_of_the_paper_by_orders_of_magnitude(bias, reached):
    kernels = lag_kernels([3], 12)
    calls = []
    found = optimise_slopes(bias, 6, kernels, report=lambda done, total: calls.append((done, total)))
    paper = fit(bias, bias.paper_slopes(6), kernels)
    assert found.cost() < reached
    assert paper.cost() > 100 * reached
    assert found.slopes == bias.progression(found.slopes[0], round(found.slopes[1] - found.slopes[0], 12), 6)
    assert found.held_by(FLOAT64)
    assert calls[-1][0] <= calls[-1][1]
    assert [done for done, _ in calls[:3]] == [1, 2, 3]


def test_more_heads_than_float64_tells_apart_are_refused():
    most = told_apart(LIN, 32)
    assert most < 32
    with pytest.raises(
        OrdinateError, match=rf"over 32 lags it tells {most} lin heads apart, take at most {most}"
    ):
        optimise_slopes(LIN, most + 1, lag_kernels([2], 32))


def test_heads_are_told_apart_up_to_the_lags_there_are():
    assert [told_apart(LIN, n) for n in (1, 4, 8)] == [1, 4, 8]
    assert told_apart(LOG, 8) == 7
    assert told_apart(LIN, 64) < told_apart(LIN, 512) < 64


@pytest.mark.parametrize("bias", [LIN, LOG], ids=lambda bias: bias.name)
@pytest.mark.parametrize(("lag", "heads", "step"), [(2, 4, 1.5), (3, 6, 2.5), (1, 3, 2.0)])
def test_the_closed_form_is_the_sum_that_vanishes(bias, lag, heads, step):
    """Against the linear system: 1 at the lag, 0 at the others."""
    first = bias.least_slope + step
    slopes = [first + step * k for k in range(heads)]
    sizes, errors = vanishing_sums(bias, lag, heads, step, np.array([first]))
    seen = range(bias.first_lag, bias.first_lag + heads)
    with mpmath.workdps(60):
        system = mpmath.matrix([[bias.weight(p, s) for p in slopes] for s in seen])
        coefficients = mpmath.lu_solve(system, mpmath.matrix([int(s == lag) for s in seen]))
        left = float(
            sum(
                abs(sum(a * bias.weight(p, s) for a, p in zip(coefficients, slopes, strict=True)))
                for s in range(seen[-1] + 1, 100)
            )
        )
        weights = [bias.tail(p, bias.first_lag) for p in slopes]
        rounding = float(sum(abs(a) * w for a, w in zip(coefficients, weights, strict=True)))
    assert errors[0] == pytest.approx(left, rel=0.05, abs=1e-12)
    assert rounding <= math.exp(sizes[0]) * (1 + 1e-9)
    assert rounding >= math.exp(sizes[0]) / 10


def test_what_a_lag_takes_grows_with_the_lag_and_passes_float64():
    found = [needs(LIN, lag, 0.1) for lag in (2, 12)]
    assert found[0].digits < FLOAT64 < found[1].digits
    assert all(need.heads > need.lag for need in found)


def test_the_digits_that_are_enough_are_enough():
    """A fit in that many digits, with heads to spare for slopes that are found by search, is as good as promised."""
    need = needs(LIN, 3, 0.05)
    best = min(
        fit(LIN, LIN.progression(step, step, need.heads), lag_kernels([3], 40), digits=need.digits).cost(
            need.digits
        )
        for step in (0.6, 0.9, 1.2)
    )
    assert best < 2 * 0.05


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: needs(LOG, 0, 0.1), "lag 0 is out of range"),
        (lambda: needs(LIN, 3, 1.5), "error 1.5 is out of range"),
        (lambda: find_bias("lim"), "did you mean 'lin'"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(OrdinateError, match=words):
        call()
