"""Carries: those of one sample, how far they reach and how often, against slow searches and published numbers."""

from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.arithmetic.carries import (
    CarryChain,
    carry_levels,
    carry_levels_distribution,
    carry_reach,
    cascade_distribution,
    longest_cascade,
)
from ordinate.lab.tasks.arithmetic.digits import add_places, to_digits

wholes = st.integers(0, 10**12)


@pytest.mark.parametrize(
    ("name", "text", "into", "cascades"),
    [
        ("addition", "995+17", [0, 1, 1, 1], [(0, 0), (1, 2)]),
        ("subtraction", "1000-1", [0, -1, -1, -1], [(0, 2)]),
        ("multiplication", "7x89", [0, 6, 6, 0], [(0, 1)]),
        ("several", "99+99+9", [0, 2, 2, 0], [(0, 1)]),
        ("arithmetic", "5+5", [0, 1, 0, 0], [(0, 0)]),
    ],
)
def test_carries_of_one_line(name, text, into, cascades):
    task = make_task(name)
    chain = task.carries(task.parse(text))
    assert list(chain.into[:4]) == into
    assert list(chain.cascades) == cascades
    assert make_task("no-carry").carries(make_task("no-carry").parse("9+9")) is None


@settings(max_examples=20)
@given(wholes, wholes)
def test_the_chain_adds_and_its_longest_cascade_is_that_of_the_slice(a, b):
    sums = add_places([to_digits([a], 14), to_digits([b], 14)], 14)
    chain = CarryChain.of(sums[0].tolist())
    assert sum(digit * 10**place for place, digit in enumerate(chain.digits)) == a + b
    lengths = [last - first + 1 for first, last in chain.cascades]
    assert max(lengths, default=0) == int(longest_cascade(sums))
    assert torch.tensor(chain.out[:-1]).equal(torch.tensor(chain.into[1:]))
    assert len(chain.to_dict()["places"]) == 14


@pytest.mark.parametrize("places", [1, 2, 3, 5])
def test_cascades_by_enumeration(places):
    types = torch.tensor(list(product(range(3), repeat=places)))
    weights = torch.tensor([0.45, 0.1, 0.45], dtype=torch.float64)[types].prod(-1)
    expected = torch.zeros(places + 1, dtype=torch.float64)
    expected.index_add_(0, longest_cascade(types + 8), weights)
    torch.testing.assert_close(cascade_distribution(places), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("places", [1, 2, 3, 4])
def test_levels_by_enumeration(places):
    numbers = to_digits(range(10**places), places)
    expected = torch.zeros(places + 1, dtype=torch.float64)
    for x in range(1, 10):
        levels = carry_levels(torch.full((len(numbers), 1), x), numbers)
        expected += levels.bincount(minlength=places + 1).double() / (9 * 10**places)
    torch.testing.assert_close(carry_levels_distribution(places), expected, rtol=1e-9, atol=0)


def test_published_numbers():
    assert cascade_distribution(5)[4].item() == pytest.approx(8.55e-4)
    assert cascade_distribution(50)[:5].sum().item() == pytest.approx(0.9979, abs=5e-5)
    assert carry_levels_distribution(5)[4].item() == pytest.approx(1.9e-3, abs=1e-6)
    assert carry_levels_distribution(20)[:5].sum().item() == pytest.approx(0.998, abs=5e-4)


def test_cascades_by_sampling(generator):
    task = make_task("addition")
    found = task.slice("cascade", task.sample(20000, generator=generator, length=50))
    shares = found.bincount(minlength=51) / len(found)
    assert (shares - cascade_distribution(50)).abs().max() < 0.015


def test_levels_by_sampling(generator):
    task = make_task("multiplication")
    found = task.slice("levels", task.sample(20000, generator=generator, length=50))
    shares = found.bincount(minlength=51) / len(found)
    assert (shares - carry_levels_distribution(50)).abs().max() < 0.015


def test_they_are_distributions_at_any_length():
    for distribution in (cascade_distribution(1000), carry_levels_distribution(150)):
        assert distribution.min() >= 0
        assert distribution.sum().item() == pytest.approx(1)
    # A cascade over all places: a generate and 99 propagates.
    assert cascade_distribution(100)[100].item() == pytest.approx(0.45e-99)


@given(st.integers(1, 999), st.integers(0, 10**12 - 1))
def test_levels_are_the_rounds_until_the_product_stands_there(multiplier, number):
    short = len(str(multiplier))
    amounts = [multiplier * int(digit) for digit in reversed(str(number))] + [0] * short
    rounds = 0
    while max(amounts) > 9:
        amounts = [
            amount % 10 + sum(amounts[j - k] // 10**k % 10 for k in range(1, short + 1) if j >= k)
            for j, amount in enumerate(amounts)
        ]
        rounds += 1
    assert sum(digit * 10**j for j, digit in enumerate(amounts)) == multiplier * number
    assert carry_levels(to_digits([multiplier], short), to_digits([number], 12)).tolist() == [rounds]


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
