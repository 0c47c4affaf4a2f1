"""Proposition 4.2: the exact error of the class without dot product."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.papers.theory.norms import affine_minimax, affine_mse, all_inputs, content_lag
from ordinate.papers.theory.rates import DOT_PRODUCT_FREE_ERROR

TOKENS = [-1.0, 0.0, 1.0]


def test_no_affine_function_does_better_than_1_and_the_proof_is_exact():
    """The dual as fractions: it sums every affine function to 0 and the target to 1."""
    inputs = all_inputs(TOKENS, 3)
    targets = content_lag(inputs)
    found = affine_minimax(inputs, targets)
    proof = [Fraction(float(value)).limit_denominator(60) for value in found.certificate]
    assert sum(map(abs, proof)) == 1
    assert sum(proof) == 0
    for column in inputs.T:
        assert sum(p * int(x) for p, x in zip(proof, column, strict=True)) == 0
    assert sum(p * int(y) for p, y in zip(proof, targets, strict=True)) == 1
    assert found.error == pytest.approx(1)
    assert np.abs(targets).max() == 1  # so that the zero predictor reaches it
    assert found.error > DOT_PRODUCT_FREE_ERROR


def test_looking_further_back_does_not_help():
    inputs = all_inputs(TOKENS, 5)
    assert affine_minimax(inputs, content_lag(inputs)).error == pytest.approx(1)


def test_the_target_is_the_token_that_the_content_names():
    for inputs in all_inputs(TOKENS, 4):
        assert content_lag(inputs[None])[0] == inputs[{-1: 0, 0: 1, 1: 2}[int(inputs[0])]]


@given(st.lists(st.floats(-2, 2), min_size=8, max_size=8), st.lists(st.floats(-1, 1), min_size=4, max_size=4))
@settings(max_examples=25)
def test_primal_and_dual_meet(targets, other):
    inputs, wanted = all_inputs([-1.0, 1.0], 3), np.array(targets)
    found = affine_minimax(inputs, wanted)
    reached = np.abs(wanted - found.constant - inputs @ found.weights).max()
    assert found.error == pytest.approx(reached, abs=1e-7)
    assert found.certificate @ wanted == pytest.approx(found.error, abs=1e-7)
    assert found.error <= np.abs(wanted - other[0] - inputs @ np.array(other[1:])).max() + 1e-7


def test_squared_errors_of_affine_functions():
    inputs = all_inputs(TOKENS, 3)
    assert affine_mse(inputs, content_lag(inputs)) == pytest.approx(0.352, abs=5e-4)
    assert affine_mse(inputs, 2 - inputs @ np.array([1.0, 0.5, 0.0])) == pytest.approx(0, abs=1e-20)


def test_too_many_inputs_and_too_few_tokens_are_refused():
    with pytest.raises(OrdinateError, match="too many to list"):
        all_inputs(TOKENS, 20)
    with pytest.raises(OrdinateError, match="give 3 or more"):
        content_lag(all_inputs(TOKENS, 2))
