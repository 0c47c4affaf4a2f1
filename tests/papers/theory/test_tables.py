"""Tables as ReLUs: exact where tokens are, and as steep as they say where tokens are nearly right."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ordinate.errors import OrdinateError
from ordinate.papers.theory.construct import SIGNS, table_units

TABLES = st.integers(0, 4).flatmap(
    lambda tokens: arrays.arrays(np.float64, (2,) * tokens, elements=st.integers(0, 9).map(float))
)


@settings(max_examples=60)
@given(TABLES, st.integers(0, 2**31))
def test_tables_of_signs(table, seed):
    units = table_units(SIGNS, table)
    rng = np.random.default_rng(seed)
    for places in product((0, 1), repeat=table.ndim):
        corner = np.array([SIGNS[place] for place in places])
        assert units.at(corner) == pytest.approx(table[places], abs=1e-12)
        errors = rng.uniform(-1, 1, table.ndim)
        errors *= rng.uniform(0, 0.999) / max(1e-9, np.abs(errors[list(units.read)]).sum())
        moved = abs(float(units.at(corner + errors)) - table[places])
        assert moved <= units.steepness * np.abs(errors[list(units.read)]).sum() + 1e-9


@given(arrays.arrays(np.float64, 3, elements=st.integers(0, 9).map(float)))
def test_a_table_of_one_token_has_any_values(table):
    values = (-1.0, 0.0, 2.5)
    units = table_units(values, table)
    np.testing.assert_allclose(units.at(np.array(values)[:, None]), table, atol=1e-12)
    assert len(units.bias) <= 3


def test_tokens_that_do_not_matter_get_no_weights():
    table = np.zeros((2, 2, 2)) + np.array([2.0, 1.0])
    units = table_units(SIGNS, table)
    assert units.read == (2,)
    assert not units.up[:, :2].any()
    assert units.steepness == 0.5
    assert table_units(SIGNS, np.full((2, 2), 3.0)).steepness == 0


def test_what_is_not_built_is_refused():
    with pytest.raises(OrdinateError, match="a table of 2 tokens is built of tokens -1 and 1 alone"):
        table_units((-1.0, 0.0, 1.0), np.arange(9.0).reshape(3, 3))
    with pytest.raises(OrdinateError, match="takes 8192 units of an FFN: take at most 4096"):
        table_units(SIGNS, np.random.default_rng(0).integers(0, 9, (2,) * 13).astype(float))
