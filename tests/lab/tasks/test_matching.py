"""Pairs, triples, named tokens and brackets, against brute force."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task

seeds = st.integers(0, 2**31)


@given(seed=seeds, length=st.integers(1, 7), modulus=st.integers(2, 12), others=st.sampled_from([1, 2]))
def test_matches(seed, length, modulus, others):
    task = make_task(f"match-{others + 1}", modulus=modulus)
    batch = task.sample(3, generator=torch.Generator().manual_seed(seed), length=length)
    for x, y in zip(batch.input.tolist(), batch.target.tolist(), strict=True):
        expected = [
            int(any((a + sum(rest)) % modulus == 0 for rest in itertools.product(x, repeat=others)))
            for a in x
        ]
        assert y == expected


@given(seed=seeds, length=st.integers(1, 6), data=st.data())
def test_averages_over_named_tokens(seed, length, data):
    named = data.draw(st.integers(1, length))
    task = make_task("sparse-average", length=length, named=named)
    batch = task.sample(3, generator=torch.Generator().manual_seed(seed))
    for x, y in zip(batch.input.tolist(), batch.target[..., 0].tolist(), strict=True):
        assert all(sum(token[1:]) == named for token in x)
        for token, answer in zip(x, y, strict=True):
            chosen = [other[0] for other, there in zip(x, token[1:], strict=True) if there]
            assert answer == pytest.approx(sum(chosen) / named, abs=1e-5)


def running_count(line):
    found, count = [], None
    for sign in line:
        if sign == "[":
            count = 0
        elif sign == "]":
            count = None
        elif count is not None:
            count += sign == "1"
        found.append(count or 0)
    return found


@given(seed=seeds, length=st.integers(4, 20))
def test_counts_inside_brackets(seed, length):
    task = make_task("contextual-counting", regions=2, largest=5)
    batch = task.sample(3, generator=torch.Generator().manual_seed(seed), length=length)
    for row, y in zip(task.show(batch), batch.target.tolist(), strict=True):
        line = row["input"]
        assert "".join(sign for sign in line if sign in "[]") == "[][]"
        assert y == [min(count, 5) for count in running_count(line)]


@given(line=st.text(alphabet="01[]", min_size=1, max_size=12))
def test_any_brackets_have_an_answer(line):
    task = make_task("contextual-counting", length=12, regions=1, largest=12)
    assert task.parse(line).target[0].tolist() == running_count(line)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("match-2", "1 31", "write whole numbers below 31"),
        ("match-2", "", "write whole numbers below 31"),
        ("match-2", "1 99999999999999999999", "write whole numbers below 31"),
        ("match-3", "1 -1", "write whole numbers below 127"),
        ("contextual-counting", "12", "write zeros, ones and brackets"),
        ("sparse-average", "1 0 1", "sets name 8 places, not 1"),
        ("sparse-average", " / ".join(["1 2"] * 8), "a token is a number and 8 places: write 8 tokens"),
    ],
)
def test_what_cannot_be_read_is_refused(name, text, message):
    with pytest.raises(OrdinateError, match=message):
        make_task(name).parse(text)


def test_more_brackets_than_tokens_are_refused():
    with pytest.raises(OrdinateError, match="2 regions need at least 4 tokens, got 3: write length=4"):
        make_task("contextual-counting").sample(1, generator=torch.Generator(), length=3)
