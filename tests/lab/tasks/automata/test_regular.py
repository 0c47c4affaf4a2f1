"""Expressions against Python's `re`, laws of `&` and `~`, and what is said of those that do not parse."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.automata import regular

words = st.text("abc", max_size=8)


def joined(inner):
    twice = st.tuples(inner, inner)
    return st.one_of(
        twice.map("".join),
        twice.map(lambda both: f"({both[0]}|{both[1]})"),
        inner.map(lambda one: f"({one})*"),
        inner.map(lambda one: f"({one})+"),
        inner.map(lambda one: f"({one})?"),
        st.tuples(inner, st.integers(0, 2), st.integers(0, 2)).map(
            lambda found: f"({found[0]}){{{found[1]},{found[1] + found[2]}}}"
        ),
        st.tuples(inner, st.integers(0, 3)).map(lambda found: f"({found[0]}){{{found[1]}}}"),
        inner.map(lambda one: f"({one}){{1,}}"),
    )


expressions = st.recursive(st.sampled_from(["a", "b", "c", ".", "[ab]", "[a-c]", "()"]), joined, max_leaves=6)


@given(expressions, st.lists(words, min_size=5, max_size=20))
def test_expressions_mean_what_they_mean_to_python(expression, tried):
    machine = regular(expression, "abc")
    for word in tried:
        assert machine.accepts(word) == bool(re.fullmatch(expression, word)), word


@given(expressions, st.randoms(use_true_random=False))
def test_members_are_found_too(expression, random):
    """Random words are seldom members: a walk to an accepting state is one."""
    machine = regular(expression, "abc")
    word, state = "", machine.start
    for _ in range(12):
        if machine.emit[state][0]:
            assert re.fullmatch(expression, word)
        symbol = random.choice("abc")
        state = machine.step[state][machine.symbols.index(symbol)]
        word += symbol


@given(expressions, expressions, words)
def test_and_and_not(one, other, word):
    left, right = (bool(re.fullmatch(e, word)) for e in (one, other))
    assert regular(f"({one})&({other})", "abc").accepts(word) == (left and right)
    assert regular(f"~({one})", "abc").accepts(word) != left
    inside = regular(f"a(~({one})&({other}))", "abc")
    assert inside.accepts("a" + word) == (right and not left)


@given(expressions, expressions)
def test_laws(one, other):
    for left, right in [
        (f"~(~({one})|~({other}))", f"({one})&({other})"),
        (f"~~({one})", f"({one})"),
        (f"({one})&~({one})", "a&b"),
        (f"(({one})*)*", f"({one})*"),
    ]:
        assert regular(left, "abc") == regular(right, "abc")  # minimal machines are the same value


def test_what_binds_most():
    for expression, means in [
        ("ab|c", "(ab)|c"),
        ("a|b&c", "a|(b&c)"),
        ("ab&.c", "(ab)&(.c)"),
        ("~a*", "~(a*)"),
        ("~ab", "(~a)b"),
        ("ab*", "a(b*)"),
        (" a b | c ", "ab|c"),
    ]:
        assert regular(expression, "abc") == regular(means, "abc")


def test_symbols_of_several_characters():
    machine = regular("""("(0" ")0")* 'a"b'""")
    assert machine.symbols == ("^", "(0", ")0", 'a"b')
    assert machine.accepts(["(0", ")0", 'a"b'])
    assert not machine.accepts(["(0", 'a"b'])


def test_small_machines():
    for expression, states in [
        ("(01)*", 3),
        ("(0|1)*", 1),
        ("(0*10*1)*0*", 2),
        ("0{7}", 9),
        ("(0|1)*1.{5}", 64),
    ]:
        assert regular(expression, "01").states == states


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("", "expression '' ends at place 1, where a symbol, ( or ~ is expected"),
        ("(01", "expression '(01' ends at place 4, where ) is expected"),
        ("01)", "has ) at place 3, where a symbol, an operator or the end is expected"),
        ("a||b", "has | at place 3, where a symbol, ( or ~ is expected (a symbol | is written in quotes)"),
        ("*a", "has * at place 1, where a symbol, ( or ~ is expected"),
        ("a{", "ends at place 3, where a number of at most 4 digits is expected"),
        ("a{2,1}", "has } at place 6, where a number from 2 up is expected"),
        ("a{2x}", "has x at place 4, where } is expected"),
        ("a{12345}", "has 1 at place 3, where a number of at most 4 digits is expected"),
        ("a{1 2}", "has 2 at place 5, where } is expected"),
        ("[]", "has ] at place 2, where a symbol is expected"),
        ("[ab", "ends at place 4, where a symbol or ] is expected"),
        ("[b-a]", "b-a is no range of symbols: write one such as 0-9"),
        ("'ab", "ends at place 4, where the quote ' is expected"),
        ("''", "has ' at place 1, where a quoted symbol without spaces, other than ^ is expected"),
        ("a^b", "has ^ at place 2, where a symbol, ( or ~ is expected"),
        ("a\\d", "has \\ at place 2"),
        ("()", "expression '()' has no symbols: write some, or symbols='01'"),
        (".*", "has no symbols"),
        ("(" * 60 + "a" + ")" * 60, "at most 50 brackets inside brackets"),
        ("~" * 60 + "a", "at most 50 brackets inside brackets"),
        ("a{9999}", "the expression needs more than 1024 states on the way"),
        ("((a{99}){99}){99}", "the expression needs more than 1024 states on the way"),
        ("(a|b)*a(a|b){12}", "the expression needs more than 1024 states on the way"),
    ],
)
def test_what_does_not_parse_is_refused_in_one_line(expression, message):
    with pytest.raises(OrdinateError) as error:
        regular(expression)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
