"""How far carries of products reach, against a search place by place; hard products in training."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.arithmetic.carries import carry_reach
from ordinate.lab.tasks.arithmetic.digits import to_digits


def slow_reach(x, y, short, long):
    """Look down one place more until no carry that may come in below changes the one that comes out."""
    digits = [y // 10**k % 10 for k in range(long)] + [0] * short
    worst = 0
    for place in range(1, long + short):
        looked = 0
        while True:
            start = place - looked
            found = set()
            for carry in range(x) if start else (0,):
                for k in range(start, place):
                    carry = (x * digits[k] + carry) // 10
                found.add(carry)
            if len(found) == 1:
                break
            looked += 1
        worst = max(worst, looked)
    return worst


@given(st.integers(1, 3), st.integers(1, 5), st.data())
def test_the_reach_is_that_of_a_search(short, long, data):
    x = data.draw(st.integers(10 ** (short - 1), 10**short - 1))
    y = data.draw(st.integers(0, 10**long - 1))
    found = carry_reach(to_digits([x], short), to_digits([y], long))
    assert found.item() == slow_reach(x, y, short, long)


def reaches(**options):
    task = make_task("multiplication", multiplier=3, digits=5, width=5, **options)
    batch = task.sample(2000, generator=torch.Generator().manual_seed(0))
    multiplier, multiplicand = task.read(batch.input, batch.coordinates)
    return carry_reach(multiplier, multiplicand.clamp(max=9) * (multiplicand < 10)).double()


def test_hard_products_reach_further_in_the_share_that_is_asked_for():
    plain, half, all_ = (reaches(**options) for options in ({}, {"deep": 0.5}, {"deep": 1.0}))
    assert all_.mean() > plain.mean() + 0.8
    assert half.mean().item() == pytest.approx((plain.mean() + all_.mean()).item() / 2, abs=0.1)


def test_what_is_tested_has_hard_ones_as_often_as_they_are():
    task = make_task("multiplication", multiplier=3, deep=0.5)
    assert task.tested() == make_task("multiplication", multiplier=3)


@pytest.mark.parametrize("share", [0, 1.5])
def test_shares_are_above_0_to_1(share):
    with pytest.raises(Exception, match="deep"):
        make_task("multiplication", deep=share)
