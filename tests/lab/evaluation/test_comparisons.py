"""Many pairs: Holm's correction by its definition, few seeds decide nothing, equal models are seldom told apart."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.evaluation.comparisons import Measured, compare, holm, least_p, seeds_needed
from ordinate.lab.evaluation.statistics import hierarchical_difference

p_values = st.lists(st.floats(0, 1, allow_nan=False), max_size=8)


def model(label: str, level: float, seeds: int = 6, failed: int = 0, rng: int = 0) -> Measured:
    draw = np.random.default_rng([rng, sum(map(ord, label))])
    own = level * draw.lognormal(0, 0.2, size=(seeds, 1))
    return Measured(label, own * draw.exponential(size=(seeds, 80)), failed)


def rejected(p: list[float], alpha: float) -> set[int]:
    """Holm by his own words: reject the smallest while it is at most alpha over the number still left."""
    left, out = sorted(range(len(p)), key=lambda place: p[place]), set()
    while left and p[left[0]] * len(left) <= alpha:
        out.add(left.pop(0))
    return out


@given(p_values, st.floats(0.001, 0.5))
def test_the_correction_rejects_what_the_steps_of_holm_reject(p, alpha):
    assert {place for place, value in enumerate(holm(p)) if value <= alpha} == rejected(p, alpha)


@given(p_values)
def test_a_correction_never_helps_and_keeps_the_order(p):
    corrected = holm(p)
    assert all(before <= after <= 1 for before, after in zip(p, corrected, strict=True))
    for (p_a, c_a), (p_b, c_b) in combinations(zip(p, corrected, strict=True), 2):
        assert (p_a <= p_b) <= (c_a <= c_b) or p_a == p_b


@pytest.mark.parametrize(("a", "b"), [(2, 2), (3, 3), (3, 5), (4, 6)])
def test_the_least_p_is_the_share_of_orders_with_all_of_one_below_the_other(a, b):
    orders = list(combinations(range(a + b), a))
    apart = [chosen for chosen in orders if chosen in (orders[0], orders[-1])]
    assert least_p(a, b) == pytest.approx(len(apart) / len(orders))


def test_a_clear_difference_is_found_in_the_right_direction():
    [[found]] = compare([model("bad", 9.0), model("good", 1.0)])
    assert (found.alone, found.better, found.reason) == ("good", "good", "good is better")
    assert found.errors[0] > found.errors[1]
    assert found.difference.high < 0
    assert found.p == found.corrected == least_p(6, 6)


def test_the_interval_is_that_of_the_rule_for_orderings():
    a, b = model("a", 1.0), model("b", 1.4)
    [[found]] = compare([a, b], draws=20_000)
    rule = hierarchical_difference(a.errors[None], b.errors[None], draws=20_000)
    assert found.difference.estimate == pytest.approx(rule.estimate)
    width = rule.high - rule.low
    assert found.difference.low == pytest.approx(rule.low, abs=0.05 * width)
    assert found.difference.high == pytest.approx(rule.high, abs=0.05 * width)


def test_three_seeds_order_a_pair_by_itself_and_decide_nothing():
    [[found]] = compare([model("good", 1.0, seeds=3), model("bad", 90.0, seeds=3)])
    assert (found.alone, found.better, found.p) == ("good", None, 0.1)
    assert found.reason == "good is better by itself, but one comparison needs 4 seeds each"


def test_many_comparisons_need_more():
    models = [model(f"m{k}", 100.0**k, seeds=4) for k in range(4)]
    for found in compare(models)[0]:
        assert (found.alone, found.better) == (found.a, None)
        assert "6 comparisons need 5 seeds each" in found.reason
    assert all(
        found.better == found.a for found in compare([model(f"m{k}", 100.0**k, 5) for k in range(4)])[0]
    )
    (alone,) = compare(models, baseline="m2")
    assert [(found.a, found.b) for found in alone] == [("m0", "m2"), ("m1", "m2"), ("m2", "m3")]


def test_equal_models_and_perfect_ones_are_not_ordered():
    perfect = [Measured(label, np.zeros((6, 10))) for label in "ab"]
    [[found]] = compare(perfect)
    assert (found.p, found.alone, found.better) == (1.0, None, None)
    assert found.reason == "the interval of the difference holds 0"


def test_failed_seeds_are_counted_and_half_of_them_decide_nothing():
    fine, broken, gone = (
        model("a", 1.0),
        model("b", 9.0, seeds=3, failed=3),
        Measured("c", np.empty((0, 0)), 6),
    )
    [[ab, ac, _]] = compare([fine, broken, gone])
    assert (ab.better, ab.reason, ab.p) == (None, "b: 3 of 6 seeds failed", 1.0)
    assert (ac.better, ac.reason) == (None, "c: 0 seeds with a finite result, 3 needed")
    assert math.isnan(ac.difference.estimate)
    assert math.isnan(ac.errors[1])


def test_among_equal_models_a_false_ordering_is_rare():
    studies = 60
    wrong = 0
    for study in range(studies):
        rng = np.random.default_rng(study)
        levels = rng.lognormal(0, 0.5, size=(4, 5, 1))
        models = [Measured(str(k), levels[k] * np.ones((5, 2))) for k in range(4)]
        wrong += any(found.better for found in compare(models, draws=500, seed=study)[0])
    assert wrong <= 0.05 * studies + 3


def test_the_correction_counts_the_pairs_of_all_groups():
    groups = [[model("a", 1.0), model("b", 50.0)] for _ in range(24)]
    for (found,) in compare(*groups, draws=1000):
        assert found.p == least_p(6, 6)
        assert found.corrected == pytest.approx(24 * found.p)
        assert (found.alone, found.better) == ("a", None)


def test_the_number_of_seeds_needed_is_the_least():
    for pairs in (1, 3, 10, 66):
        n = seeds_needed(pairs)
        assert pairs * least_p(n, n) <= 0.05 < pairs * least_p(n - 1, n - 1)
