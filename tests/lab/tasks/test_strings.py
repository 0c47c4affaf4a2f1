"""Copying, reversing and counting, against brute force."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.structure import check, discover
from ordinate.lab.tasks import TASKS, make_task
from ordinate.relations import aligned, between, window

seeds = st.integers(0, 2**31)
lengths = st.integers(1, 30)
ECHOES = {"copy": lambda text: text, "reverse": lambda text: text[::-1]}
STRINGS = [name for name, task in TASKS.items() if task.family == "strings"]


def drawn(task, seed, length):
    return task.sample(5, generator=torch.Generator().manual_seed(seed), length=length)


def test_the_family_is_there():
    assert STRINGS == ["copy", "reverse", "parity", "modular-counting"]


@given(seed=seeds, length=lengths, alphabet=st.integers(2, 26), name=st.sampled_from(list(ECHOES)))
def test_strings_are_written_again(seed, length, alphabet, name):
    task = make_task(name, alphabet=alphabet)
    batch = drawn(task, seed, length)
    for row, x, y in zip(task.show(batch), batch.input.tolist(), batch.target.tolist(), strict=True):
        assert row["target"] == ECHOES[name](row["input"])
        assert set(row["input"]) <= set(task.vocabulary[1:])
        assert x[length:] == y[:length] == [0] * length
        assert ECHOES[name](x[:length]) == y[length:]


@given(seed=seeds, length=lengths, name=st.sampled_from(list(ECHOES)))
def test_a_letter_and_its_answer_have_one_ordinate(seed, length, name):
    batch = drawn(make_task(name), seed, length)
    answers = dict(zip(batch.coordinates.ordinate[length:], batch.target[0, length:].tolist(), strict=True))
    assert [answers[place] for place in range(length)] == batch.input[0, :length].tolist()


@pytest.mark.parametrize("name", ECHOES)
def test_blanks_are_scored_and_letters_are_free(name):
    task = make_task(name)
    coordinates = task.coordinates(3)
    assert coordinates.fields == ("letter", "answer")
    assert task.scored(coordinates)[:, 0].tolist() == [False] * 3 + [True] * 3
    assert task.free(coordinates, 3) == (0, 1, 2)


@given(seed=seeds, length=lengths, modulus=st.integers(2, 9))
def test_ones_are_counted_round(seed, length, modulus):
    tasks = [make_task("modular-counting", modulus=modulus)] + [make_task("parity")] * (modulus == 2)
    for task in tasks:
        batch = drawn(task, seed, length)
        for x, y in zip(batch.input.tolist(), batch.target.tolist(), strict=True):
            assert y == [sum(x[: t + 1]) % modulus for t in range(length)]


@pytest.mark.parametrize("name", STRINGS)
def test_training_may_show_every_length(name):
    assert make_task(name, length=4).lengths() == (4,)
    task = make_task(name, length=4, variable=True)
    assert task.lengths() == (1, 2, 3, 4)
    assert [len(known) for known in task.trained()] == [len(task.coordinates(n)) for n in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("copy", "abz", "'abz' is not understood: write letters from a to h, such as abba"),
        ("reverse", "", "write letters from a to h"),
        ("copy", "a" * 5000, "length must be 1 to 4096, got 5000"),
        ("parity", "12", "'12' is not understood: write zeros and ones, such as 1101"),
        ("modular-counting", "", "write zeros and ones"),
        ("parity", "1" * 5000, "length must be 1 to 4096, got 5000"),
    ],
)
def test_lines_that_cannot_be_read_are_refused(name, text, message):
    with pytest.raises(OrdinateError, match=message) as error:
        make_task(name).parse(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ECHOES)
def test_the_relation_is_declared_and_found(name):
    task = make_task(name, length=5)
    declared = aligned("letter", "answer") * between(key="letter") * window(0)
    assert check(declared, task, layers=1, count=50) == []
    assert discover(task, count=1000).relation == declared


def test_a_counter_has_no_window():
    assert str(discover(make_task("parity", length=5), count=1000).relation).endswith("causal(by='ordinate')")
