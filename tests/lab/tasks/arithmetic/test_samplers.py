"""Which numbers are drawn."""

from collections import Counter
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.arithmetic.carries import longest_carries, longest_cascade
from ordinate.lab.tasks.arithmetic.digits import to_digits
from ordinate.lab.tasks.arithmetic.samplers import (
    CARRIES,
    CASCADE,
    Chains,
    Complexity,
    Mixture,
    Shifted,
    Uniform,
    draw_pairs,
    draw_types,
)


def by_hand(sums, rule):
    """The longest run, one place after another."""
    longest = run = 0
    for s in sums:
        start, prolong = (s > 9, s == 9 and run) if rule is CASCADE else (False, s > 9)
        run = 1 if start else run + 1 if prolong else 0
        longest = max(longest, run)
    return longest


@given(st.lists(st.sampled_from([0, 8, 9, 9, 9, 10, 18]), min_size=1, max_size=30))
def test_runs_by_hand(sums):
    assert longest_cascade(torch.tensor([sums])).tolist() == [by_hand(sums, CASCADE)]
    assert longest_carries(torch.tensor([sums])).tolist() == [by_hand(sums, CARRIES)]


@pytest.mark.parametrize("length", [1, 2, 5, 20, 70])
@pytest.mark.parametrize("axis", ["cascade", "carries"])
def test_an_axis_hits_every_run_exactly(axis, length, generator):
    task = make_task("addition")
    for k in {0, 1, 2, length // 2, length - 1, length} & set(range(length + 1)):
        batch = task.sample(30, generator=generator, length=length, **{axis: k})
        assert (task.slice(axis, batch) == k).all()
        batch = make_task("addition", format="variable", words=2).sample(
            5, generator=generator, length=length, **{axis: k}
        )
        assert (task.slice(axis, batch) == k).all()


def test_a_run_of_a_thousand_places(generator):
    task = make_task("addition")
    for k in (0, 400):
        batch = task.sample(3, generator=generator, length=1000, cascade=k)
        assert (task.slice("cascade", batch) == k).all()


@pytest.mark.parametrize("rule", [CASCADE, CARRIES])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_pairs_of_two_digits_are_uniform_among_those_with_the_run(rule, k, generator):
    count = 60000
    pairs = draw_pairs(draw_types(rule, 2, torch.full((count,), k), generator), generator)
    tens = torch.tensor([1000, 100, 10, 1])
    drawn = (pairs.flatten(1).flip(1) * tens).sum(-1).bincount(minlength=10**4)
    both = to_digits(range(10**4), 4)
    sums = both[:, :2] + both[:, 2:]
    allowed = (longest_cascade(sums) if rule is CASCADE else longest_carries(sums)) == k
    assert not drawn[~allowed].any()
    share, freedom = count / allowed.sum(), allowed.sum() - 1
    chi = ((drawn[allowed] - share) ** 2 / share).sum()
    assert abs(chi - freedom) < 5 * (2 * freedom) ** 0.5


def test_types_of_three_places_are_weighted_as_pairs_are(generator):
    count, weights = 40000, (45, 10, 45)
    for k in range(4):
        types = draw_types(CASCADE, 3, torch.full((count,), k), generator)
        drawn = Counter(map(tuple, types.tolist()))
        expected = {
            row: weights[row[0]] * weights[row[1]] * weights[row[2]]
            for row in product(range(3), repeat=3)
            if by_hand([8 + t for t in row], CASCADE) == k
        }
        assert drawn.keys() == expected.keys()
        for row, weight in expected.items():
            share = weight / sum(expected.values())
            assert abs(drawn[row] / count - share) < 5 * (share * (1 - share) / count) ** 0.5 + 1e-9


@pytest.mark.parametrize("digits", [3, 70])
def test_complexity_is_uniform_over_cascades(digits, generator):
    pairs = Complexity().draw(4000 if digits == 3 else 200, digits, generator)
    found = longest_cascade(pairs.sum(1))
    if digits == 3:
        assert all(900 < n < 1100 for n in found.bincount().tolist())
    else:
        assert len(found.unique()) > 50


def test_a_mixture_has_its_share(generator):
    pairs = Mixture(share=0.25).draw(20000, 5, generator)
    rare = (longest_cascade(pairs.sum(1)) == 5).double().mean().item()
    assert 0.25 / 6 - 0.006 < rare < 0.25 / 6 + 0.006
    plain = Mixture(share=0.0).draw(3000, 5, generator)
    assert (longest_cascade(plain.sum(1)) == 5).sum() < 5


@pytest.mark.parametrize("operands", [1, 2, 3])
def test_shifted_numbers_stay_in_the_width(operands, generator):
    drawn = Shifted().draw(2000, 3, generator, operands=operands, width=6)
    assert drawn.shape == (2000, operands, 6)
    used = [(row > 0).any(0).nonzero().flatten().tolist() for row in drawn]
    assert all(places[-1] - places[0] < 3 for places in used if places)
    lowest = Counter(places[0] for places in used if len(places) == 3 or places[2:])
    assert set(lowest) == {0, 1, 2, 3}
    assert min(lowest.values()) > 0.7 * max(lowest.values())


def test_without_room_nothing_is_shifted(generator):
    assert Shifted().draw(10, 4, generator, width=4).shape == (10, 2, 4)


def test_a_uniform_digit_is_uniform(generator):
    counts = Uniform().draw(5000, 2, generator).flatten().bincount()
    assert counts.min() > 1800
    assert counts.max() < 2200


def test_chains_show_rows_of_nines_with_and_without_a_carry(generator):
    """Every longest row is drawn equally often, and half of the long ones get no carry from below."""
    pairs = Chains().draw(20000, 5, generator)
    nines = pairs.sum(1) == 9
    rows = torch.stack([nines[:, i : i + k].all(1) for k in range(1, 6) for i in range(6 - k)])
    sizes = torch.tensor([k for k in range(1, 6) for _ in range(6 - k)])
    longest = (rows * sizes[:, None]).amax(0)
    assert longest.bincount().float().div(20000).sub(1 / 6).abs().max() < 0.02
    inner = rows[sizes == 3][1] & (longest == 3)  # places 1 to 3
    carried = (pairs[:, :, 0].sum(1) > 9)[inner].float().mean()
    assert abs(float(carried) - 0.5) < 0.05
