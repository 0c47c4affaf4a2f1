"""TOML is read within bounds, and what is written on one line is read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.toml import DEEPEST, LARGEST, inline, parse_toml

KEYS = st.text(alphabet="abc-_0", min_size=1, max_size=4)
VALUES = st.recursive(
    st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
)


@given(VALUES)
def test_what_is_written_on_one_line_is_read_back(value):
    line = inline(value)
    assert "\n" not in line
    assert parse_toml(f"value = {line}") == {"value": value}


@pytest.mark.parametrize("depth", [DEEPEST + 1, 300, 900, 100_000])
def test_what_is_nested_too_deeply_is_refused(depth):
    for text in ("[" * depth + "]" * depth, "{x = " * depth + "1" + "}" * depth):
        with pytest.raises(OrdinateError, match="nested more than 100 deep"):
            parse_toml(f"x = {text}")
    with pytest.raises((OrdinateError, ValueError)):
        parse_toml("x = " + "[" * depth)


def test_the_deepest_that_is_read():
    parse_toml("x = " + "[" * (DEEPEST - 1) + "]" * (DEEPEST - 1))
    with pytest.raises(OrdinateError, match="nested more than 100 deep"):
        parse_toml("x = " + "[" * DEEPEST + "]" * DEEPEST)


@pytest.mark.parametrize("text", [str(2**63), str(-(2**63)), "0x" + "f" * 5000, "9" * 5000])
def test_whole_numbers_have_64_bits(text):
    with pytest.raises((OrdinateError, ValueError)):
        parse_toml(f"x = [1, {{y = {text}}}]")
