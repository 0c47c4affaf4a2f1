"""The constructions of Appendix F, against their definition summed term by term."""

import mpmath
import numpy as np
import pytest

from ordinate.errors import OrdinateError
from ordinate.papers.theory.biases import BIASES, LIN, LOG
from ordinate.papers.theory.sums import decaying, indicator, measure, series

BOTH = list(BIASES.values())


@pytest.mark.parametrize("bias", BOTH, ids=lambda bias: bias.name)
@pytest.mark.parametrize("lag", [1, 2, 7, 40])
def test_the_bump_is_the_indicator_on_whole_lags(bias, lag):
    lags = np.arange(bias.first_lag, 100.0)
    np.testing.assert_allclose(indicator(lag, bias).kernel(lags), lags == lag, atol=1e-9)


@pytest.mark.parametrize("bias", BOTH, ids=lambda bias: bias.name)
def test_slopes_are_those_of_the_lemmas(bias):
    assert series(indicator(3, bias), 5).slopes == bias.paper_slopes(5)
    assert series(decaying(2.0, LIN), 2).slopes == (0.02, 0.025)
    assert series(decaying(2.0, LOG), 2).slopes == (1.0002, 1.0102)


@pytest.mark.parametrize(
    "target", [indicator(2, LIN), indicator(3, LOG), decaying(0.3, LIN), decaying(3.0, LOG)]
)
def test_coefficients_make_the_series(target):
    """In many digits, sum_k a_k w_k(s) is the value of the Chebyshev form, which float64 can compute."""
    built = series(target, 24)
    lags = [target.bias.first_lag, 1, 2, 3, 10, 300]
    with mpmath.workdps(built.digits):
        slow = [
            float(
                sum(
                    a * target.bias.weight(p, s)
                    for a, p in zip(built.coefficients(), slopes_of(built), strict=True)
                )
            )
            for s in lags
        ]
    np.testing.assert_allclose(built.kernel(np.array(lags, dtype=float)), slow, rtol=1e-9, atol=1e-11)


def slopes_of(built):
    """The slopes without rounding to decimals: in floats as the series has them."""
    return [
        mpmath.mpf(built.target.first_slope) + mpmath.mpf(built.target.step) * k for k in range(built.terms)
    ]


def test_the_error_is_the_sum_over_all_lags():
    built = series(indicator(2, LIN), 48)
    lags = np.arange(0, 4000.0)  # weights are below e^-40 from there on
    slow = np.abs((lags == 2) - built.kernel(lags)).sum()
    assert built.error() == pytest.approx(slow, rel=1e-6)


def test_the_tail_of_powers_is_summed_to_the_end():
    """With one term of slope 1.0003 the sum is zeta, nearly all of it beyond any lag that can be visited."""
    built = series(decaying(3.0, LOG), 1)
    height = float(built.chebyshev[0])
    with mpmath.workdps(30):
        near = sum(abs(height * s**-1.0003 - s**-3.0) for s in range(1, 20_000))
        far = height * mpmath.zeta(1.0003, 20_000) - mpmath.zeta(3, 20_000)
    assert built.error() == pytest.approx(near + float(far), rel=1e-3)


def test_rates_rise_without_limit_once_the_bump_is_resolved():
    """The bound C(n) / m^n holds for every n: the measured order is above any fixed one in the end."""
    rows = measure(decaying(0.5, LIN), [4, 8, 16, 32])
    errors = [row.error for row in rows]
    assert errors == sorted(errors, reverse=True)
    assert rows[0].order is None
    assert rows[3].order > rows[2].order > 1
    assert rows[3].order == pytest.approx(np.log2(errors[2] / errors[3]))
    assert rows[3].largest > rows[1].largest


def test_few_heads_of_the_proof_are_worse_than_none():
    """What the constant C(n) hides: at 8 heads the construction for lag 2 errs more than the empty sum."""
    few, many = measure(indicator(2, LIN), [8, 128])
    assert few.error > 1 > many.error
    assert many.largest > 80


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: decaying(0.5, LOG), "not summable, which Appendix F needs: take b above 1"),
        (lambda: decaying(1.00005, LOG), "leaves nothing beside the damping"),
        (lambda: indicator(0, LOG), "lag 0 is out of range"),
        (lambda: series(indicator(2, LIN), 0), "0 terms are out of range"),
        (lambda: series(indicator(2, LIN), 5000), "a sum has 1 to 1024"),
    ],
)
def test_what_the_lemmas_do_not_cover_is_refused(call, words):
    with pytest.raises(OrdinateError, match=words):
        call()
