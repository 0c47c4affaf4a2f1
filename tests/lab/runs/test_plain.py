"""JSON keeps numbers that are not finite, and tells them from texts that are spelled like them."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.runs.plain import DEEPEST, canonical, from_json, to_json

WORDS = ("NaN", "Infinity", "-Infinity")
TEXTS = st.sampled_from(WORDS) | st.text(alphabet='NaInfity-"\\ :,ä', max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


def nested(depth):
    value = "end"
    for _ in range(depth):
        value = [value]
    return value


@given(VALUES)
def test_every_value_comes_back_as_it_was(value):
    text = to_json(value)
    assert repr(from_json(text)) == repr(from_json(text.encode())) == repr(value)
    json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize("word", WORDS)
def test_a_name_is_the_same_to_every_reader_and_no_number_here(word):
    text = to_json({"name": word, word: [word, float(word)]}, indent=2)
    assert json.loads(text) == {"name": word, word: [word, word]}
    back = from_json(text)
    assert (back["name"], back[word][0]) == (word, word)
    assert repr(back[word][1]) == repr(float(word))


def test_files_from_before_names_were_told_apart_are_read_as_they_were():
    row = from_json('{"loss": "NaN", "rates": ["Infinity" , "-Infinity"], "NaN": "NaN or so"}')
    assert math.isnan(row["loss"])
    assert row["rates"] == [math.inf, -math.inf]
    assert row["NaN"] == "NaN or so"


def test_what_a_hash_is_taken_of_is_spelled_as_ever():
    assert canonical({"b": math.nan, "a": "NaN"}) == '{"a":"NaN","b":"NaN"}'


@pytest.mark.parametrize("depth", [DEEPEST + 1, 900, 100_000])
def test_what_is_nested_too_deeply_is_refused(depth):
    for text in ("[" * depth + "]" * depth, '{"x":' * depth + "1" + "}" * depth):
        with pytest.raises(ValueError, match="nested more than 100 deep"):
            from_json(text)
    with pytest.raises(OrdinateError, match="nested more than 100 deep"):
        to_json(nested(depth))


def test_what_is_nested_less_is_written_and_read():
    assert from_json(to_json(nested(DEEPEST))) == nested(DEEPEST)


def test_half_a_character_is_refused_and_never_written():
    with pytest.raises(ValueError, match="surrogates not allowed"):
        from_json('{"error": "\\ud800"}')
    assert from_json('["\\ud83d\\ude00"]') == ["\N{GRINNING FACE}"]
    assert from_json(to_json({"\udcff": "odd\ud800"})) == {"\\udcff": "odd\\ud800"}
