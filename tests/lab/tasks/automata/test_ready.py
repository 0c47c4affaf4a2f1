"""Machines with names: against Python's integers, permutations, published data, and plain rules."""

import os
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.automata import MACHINES
from ordinate.lab.tasks.automata.columns import DIGITS
from ordinate.lab.tasks.automata.languages import built

FLARE = os.environ.get("ORDINATE_FLARE", "")
PUBLISHED = {
    "cycle-navigation": {"of": "cycle-navigation"},
    "dyck-2-3": {"of": "dyck", "brackets": 2, "depth": 3},
    "even-pairs": {"of": "even-pairs"},
    "first": {"of": "first"},
    "modular-arithmetic-simple": {"of": "modular-arithmetic"},
    "parity": {"of": "parity"},
    "repeat-01": {"of": "repeat-01"},
}
BRACKETS = {"(0": "(", ")0": ")", "(1": "[", ")1": "]"}
numbers = st.integers(0, 10**12)
bases = st.integers(2, 16)


def machine(of, **options):
    return built(MACHINES[of](**options))


def digits(number, base, places):
    return "".join(DIGITS[number // base**place % base] for place in range(places))


def value(text, base):
    """The number that digits stand for, least significant first."""
    return sum(DIGITS.index(digit) * base**place for place, digit in enumerate(text))


@pytest.mark.skipif(not FLARE, reason="ORDINATE_FLARE names no folder of the published data")
@pytest.mark.parametrize("language", PUBLISHED)
@pytest.mark.parametrize("part", [".", "datasets/validation-short", "datasets/validation-long"])
def test_published_strings_have_the_published_labels(language, part):
    found = machine(**PUBLISHED[language])
    folder = Path(FLARE) / language / part
    lines = (folder / "main.tok").read_text().split("\n")[:-1]
    labels = [int(label) for label in (folder / "labels.txt").read_text().split()]
    assert len(lines) == len(labels) >= 1000
    by_length = {}
    for line, label in zip(lines, labels, strict=True):
        word = [BRACKETS.get(name, name) for name in line.split()]
        by_length.setdefault(len(word), []).append((found.indices(["^", *word]), label))
    for rows in by_length.values():
        answers = found.run(torch.tensor([word for word, _ in rows]))[:, -1]
        assert answers.tolist() == [label for _, label in rows]


@given(st.text("01", max_size=12))
def test_languages_of_zeros_and_ones(word):
    for of, expected in {
        "parity": word.count("1") % 2 == 1,
        "even-pairs": word[:1] == word[-1:],
        "first": word.startswith("1"),
        "repeat-01": bool(re.fullmatch("(01)*", word)),
    }.items():
        assert machine(of).accepts(word) == expected


@given(st.text("01", min_size=1, max_size=30), st.integers(2, 9))
def test_ones_are_counted(word, modulus):
    counts = machine("modular-counting", modulus=modulus).answers(word)
    assert counts == tuple(str(word[: n + 1].count("1") % modulus) for n in range(len(word)))


@given(st.text("<=>", max_size=20), st.integers(0, 4), st.text("<=>01234", max_size=4))
def test_steps_on_a_cycle(steps, end, behind):
    place = (steps.count(">") - steps.count("<")) % 5
    found = machine("cycle-navigation")
    assert found.accepts(steps + str(end)) == (place == end)
    assert found.accepts(steps + str(place) + behind) == (not behind)
    assert not found.accepts(steps)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from("+-*")), min_size=1, max_size=8),
    st.text("01234+-*=", max_size=6),
)
def test_modular_arithmetic(terms, noise):
    line = "".join(f"{digit}{sign}" for digit, sign in terms)[:-1]
    left_to_right = 0
    for sign, digit in re.findall(r"([-+*])(\d)", f"+{line}"):
        left_to_right = eval(f"{left_to_right}{sign}{digit}")
    for precedence, result in ((False, left_to_right % 5), (True, eval(line) % 5)):
        found = machine("modular-arithmetic", precedence=precedence)
        assert [found.accepts(f"{line}={end}") for end in "01234"] == [end == result for end in range(5)]
        assert not found.accepts(line)
        assert found.accepts(noise) <= bool(re.fullmatch(r"[0-4]([-+*][0-4])*=[0-4]", noise))


@given(st.text("()[]", max_size=14), st.integers(1, 4))
def test_brackets(word, depth):
    rest, deepest, open_now = word, 0, 0
    for sign in word:
        open_now += 1 if sign in "([" else -1
        deepest = max(deepest, open_now)
    while (shorter := rest.replace("()", "").replace("[]", "")) != rest:
        rest = shorter
    assert machine("dyck", depth=depth).accepts(word) == (not rest and deepest <= depth)


def test_brackets_of_many_kinds():
    assert machine("dyck", brackets=5, depth=1).symbols[-4:] == ("<", ">", "(4", ")4")
    assert machine("dyck", brackets=2, depth=3).states == 1 + 2 + 4 + 8 + 1


@pytest.mark.parametrize(("group", "order"), [("Z60", 60), ("A5", 60), ("S5", 120)])
def test_groups(group, order):
    found = machine("word-problem", group=group)
    assert found.states == len(found.outputs) == found.monoid() == order
    identity = machine("word-problem", group=group, identity=True)
    assert identity.monoid() == order
    assert identity.recognises
    g = torch.Generator().manual_seed(0)
    for word in torch.randint(len(found.symbols), (20, 15), generator=g).tolist():
        names = [found.symbols[symbol] for symbol in word]
        if group == "Z60":
            expected = str(sum(map(int, names)) % 60)
        else:
            images = list(range(1, 6))
            for cycle in names:
                moved = [int(sign) for sign in cycle[1:-1]]
                after = dict(zip(moved, moved[1:] + moved[:1], strict=True))
                images = [after.get(image, image) for image in images]
            expected = "".join(map(str, images))
        assert found.answers(names)[-1] == expected
        assert identity.accepts(names) == (expected == found.outputs[0])


@given(numbers, numbers, bases)
def test_sums_differences_and_comparisons(one, two, base):
    places = 41
    columns = [f"{a}{b}" for a, b in zip(digits(one, base, places), digits(two, base, places), strict=True)]
    modulus = base**places
    for of, expected in (("addition", one + two), ("subtraction", (one - two) % modulus)):
        ready = MACHINES[of](base=base)
        said = built(ready).answers(columns)
        assert value(said, base) == expected
        numeral = digits(expected, base, places)[::-1]
        assert ready.reading(columns, said).endswith(f"={numeral}")
    without = machine("no-carry", base=base).answers(columns)
    assert without == tuple(DIGITS[(DIGITS.index(a) + DIGITS.index(b)) % base] for a, b in columns)
    assert machine("comparison", base=base).answers(columns)[-1] == (
        "<" if one < two else "=" if one == two else ">"
    )


@given(st.lists(numbers, min_size=3, max_size=3), st.integers(2, 9))
def test_sums_of_several(addends, base):
    columns = ["".join(column) for column in zip(*(digits(n, base, 44) for n in addends), strict=True)]
    assert value(machine("several", base=base, addends=3).answers(columns), base) == sum(addends)


@given(numbers, st.integers(1, 99), bases)
def test_products_and_quotients(number, constant, base):
    places = 55
    word = digits(number, base, places)
    assert (
        value(machine("multiplication", factor=constant, base=base).answers(word), base) == number * constant
    )
    quotient = machine("division", divisor=constant, base=base).answers(word[::-1])
    assert value(quotient[::-1], base) == number // constant


@given(numbers, st.sampled_from([(2, 2), (2, 5), (3, 3), (6, 2), (5, 2)]))
def test_bases(number, bases):
    base, power = bases
    said = machine("base-change", base=base, digits=power).answers(digits(number, base, 60))
    assert all((digit != ".") == ((place + 1) % power == 0) for place, digit in enumerate(said))
    assert value([digit for digit in said if digit != "."], base**power) == number % base ** (
        60 // power * power
    )


def test_all_machines_of_the_table_are_minimal():
    for name, kind in MACHINES.items():
        found = built(kind())
        assert found.minimised().states == found.states, name
        assert kind.summary
        assert not set(kind.model_fields) & {"length", "shortest", "labels", "near", "edits", "chains", "of"}


@pytest.mark.parametrize(
    ("of", "options", "message"),
    [
        (
            "several",
            {"addends": 4},
            "4 digits in base 10 are 10000 columns, more than 1296: write fewer addends",
        ),
        ("base-change", {"base": 6, "digits": 3}, "base 6^3 has more than 36 digits: write fewer digits"),
        ("dyck", {"brackets": 64, "depth": 9}, "more than 4096 states: write smaller options"),
        ("table", {"step": [[0, 1], [1]]}, "state 1 has no state on '1' in step: write one, 0 to 1"),
        ("table", {"outputs": ["x", "y"], "emit": [[0, 1], [0]]}, "state 1 has no output on '1' in emit"),
    ],
)
def test_machines_that_cannot_be_are_refused_in_one_line(of, options, message):
    with pytest.raises(OrdinateError) as error:
        built(MACHINES[of](**options))
    assert message in str(error.value)
    assert "\n" not in str(error.value)
