"""Names, options and what is said when they are wrong."""

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import TASKS, make_task
from ordinate.lab.tasks.numbers import Median, Sum


def test_the_numbers_family_is_there():
    names = {name for name, task in TASKS.items() if task.family == "numbers"}
    assert names == {"sum", "min", "max", "median", "sort", "max-subarray", "min-sum", "path"}


def test_the_arithmetic_family_is_there():
    names = {name for name, task in TASKS.items() if task.family == "arithmetic"}
    assert names == {"addition", "no-carry", "subtraction", "several", "multiplication", "arithmetic"}


def test_a_name_gives_the_task():
    assert make_task("median") == Median()
    assert make_task("sum", length=3, variable=True, low=0, high=1) == Sum(
        length=3, variable=True, low=0, high=1
    )


def test_the_defaults_are_those_of_the_paper():
    options = {"length": 8, "variable": False, "low": -2, "high": 2, "integers": False, "integer_tests": None}
    assert dict(make_task("sum")) == options


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("medain", "did you mean 'median'"),
        ("max-subaray", "'max-subarray'"),
        ("zzz", "known: adaptive-memory, addition, arithmetic, bfs"),
    ],
)
def test_an_unknown_name_gets_the_nearest(name, hint):
    with pytest.raises(OrdinateError, match=hint) as error:
        make_task(name)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sum", {"lenght": 4}, "unknown key 'task.lenght': did you mean 'length'?"),
        (
            "sum",
            {"zzz": 4},
            "unknown key 'task.zzz': known: high, integer_tests, integers, length, low, variable",
        ),
        (
            "sum",
            {"length": 0},
            "task.length = 0 is not allowed, it should be greater than or equal to 1",
        ),
        ("sum", {"length": 5000}, "length = 5000 is not allowed, it should be less than or equal to 4096"),
        ("sum", {"length": "many"}, "length = 'many' is not allowed, it should be a valid integer"),
        (
            "path",
            {"length": 1},
            "task.length = 1 is not allowed, it should be greater than or equal to 2",
        ),
        ("min", {"variable": "perhaps"}, "variable = 'perhaps' is not allowed"),
        ("min", {"low": float("nan")}, "low = nan is not allowed"),
        ("min", {"high": float("inf")}, "high = inf is not allowed"),
        ("min", {"low": 0.2, "high": 0.8, "integers": True}, "there is no whole number from 0.2 to 0.8"),
        ("min", {"low": 0.2, "high": 0.8, "integer_tests": True}, "there is no whole number from 0.2 to 0.8"),
        ("min", {"high": 1e9, "integers": True}, "exact up to 16777216 in float32, got 1000000000"),
        ("min", {"low": 3}, "task: low must be below high, got low = 3.0 and high = 2.0"),
    ],
)
def test_bad_options_are_refused_in_one_line(name, options, message):
    with pytest.raises(OrdinateError) as error:
        make_task(name, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(OrdinateError, match=r"length = 0 .*; unknown key 'task.zzz'"):
        make_task("sum", length=0, zzz=1)
