"""How often carries travel how far: exact numbers against enumeration, sampling and the published ones."""

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.arithmetic.carries import (
    carry_levels,
    carry_levels_distribution,
    cascade_distribution,
    longest_cascade,
)
from ordinate.lab.tasks.arithmetic.digits import to_digits


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
