"""Kinds: what a recipe may write, and what is said when it is wrong."""

import pytest

from ordinate.encodings import ENCODINGS, OneHot, Sinusoidal
from ordinate.errors import OrdinateError
from ordinate.kinds import choose
from ordinate.lab.training.optimizer import SCHEDULES, Cosine

KNOWN = ", ".join(sorted(ENCODINGS))


@pytest.mark.parametrize("value", ["one-hot", {"kind": "one-hot"}, OneHot()])
def test_a_kind_is_a_name_a_table_or_the_thing_itself(value):
    assert choose(value, ENCODINGS, "model.encoding") == OneHot().settings


def test_options_stand_beside_the_name_and_come_back_from_a_dump():
    chosen = choose({"kind": "sinusoidal", "width": 6}, ENCODINGS, "model.encoding")
    assert chosen == Sinusoidal(width=6).settings
    assert choose(chosen.model_dump(), ENCODINGS, "model.encoding") == chosen


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (
            "sinusoidl",
            "e.kind = 'sinusoidl' is not known: did you mean 'sinusoidal'? (of a plug-in: add --plugin FILE)",
        ),
        ({"width": 3}, "'e.kind' is missing: write one of " + KNOWN),
        ({"kind": "sinusoidal", "widht": 3}, "unknown key 'e.widht': did you mean 'width'?"),
        (
            {"kind": "sinusoidal", "width": 0},
            "e.width = 0 is not allowed, it should be greater than or equal to 1 "
            "(width: columns appended to a token)",
        ),
        (7, "e = 7 is not allowed: write a name, one of " + KNOWN),
        (
            Cosine(),
            "e: 'cosine' is not allowed here: write one of " + KNOWN,
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(value, line):
    with pytest.raises(OrdinateError) as error:
        choose(value, ENCODINGS, "e")
    assert str(error.value) == line


def test_every_kind_describes_itself():
    for table in (ENCODINGS, SCHEDULES):
        for name, kind in table.items():
            assert kind.name == name
            assert kind.summary
