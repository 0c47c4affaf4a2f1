"""Aims: numbers of curves, differences and shares of a seed, and orderings over seeds and samples."""

import math
from dataclasses import replace

import numpy as np
import pytest

from ordinate.lab.evaluation.claims import AtLeast, AtMost, Claim
from ordinate.lab.evaluation.statistics import hierarchical_difference
from ordinate.papers.aims import Beats, Keeps, Leads, Point, at_least, at_most
from ordinate.papers.curves import Measured

POINTS = ["validation", "length=10", "length=20"]


def curve(rows, seconds=(1.0, 2.0, 3.0), samples=100):
    """Seeds x points of exact match; the errors have the same shares."""
    values = [[None if math.isnan(v) else v for v in row] for row in rows]
    axes = {"length": {"x": [5.0, 10.0, 20.0], "names": POINTS, "values": values}}
    errors = {
        name: np.stack(
            [
                np.full(samples, np.nan)
                if math.isnan(row[place])
                else (np.arange(samples) >= row[place] * samples).astype(float)
                for row in rows
            ]
        )
        for place, name in enumerate(POINTS)
    }
    return {"axes": axes, "seconds": list(seconds)}, errors


GOOD = curve([[1.0, 0.9, 0.8], [1.0, 0.92, 0.7], [1.0, 0.94, 0.9]])
POOR = curve([[1.0, 0.1, 0.0], [0.5, 0.2, 0.0], [0.0, 0.0, 0.0]])
POOR_AT_10 = Point("poor", "length=10")
CURVES = Measured({"good": GOOD, "poor": POOR})


@pytest.mark.parametrize(
    ("aim", "estimate", "verdict"),
    [
        (at_least("good", "length=10", 0.9, "It is good."), 0.92, "supported"),
        (at_most("good", "length=10", 0.5, "It is poor."), 0.92, "contradicted"),
        (at_most("good", "seconds", 10.0, "It is fast."), 2.0, "supported"),
        (
            Leads("It falls.", AtLeast(0.5), Point("poor", "validation"), Point("poor", "length=10")),
            0.3,
            "inconclusive",
        ),
        (Keeps("It keeps.", AtLeast(0.6), Point("good", "length=20")), 0.8, "supported"),
        (Keeps("It keeps.", AtLeast(0.9), Point("poor", "length=20")), 0.0, "contradicted"),
        (Beats("A beats B.", AtLeast(0.02), "good", "poor", ("length=10", "length=20")), 0.81, "supported"),
        (Beats("B beats A.", AtLeast(0.02), "poor", "good", ("length=20",)), -0.8, "contradicted"),
        (Beats("A beats A.", AtLeast(0.02), "good", "good", ("length=20",)), 0.0, "inconclusive"),
    ],
)
def test_aims_are_judged(aim, estimate, verdict):
    claim = aim.claim(CURVES, "laptop")
    assert claim.measured.estimate == pytest.approx(estimate)
    assert claim.verdict == verdict
    assert (claim.seeds, claim.failed, claim.sentence) == (3, 0, aim.sentence)


@pytest.mark.parametrize(
    ("share", "scale", "verdict"),
    [
        (0.9, "laptop", "supported"),
        (0.91, "laptop", "inconclusive"),
        (0.99, "laptop", "inconclusive"),
        (0.99, "paper", "contradicted"),
        (0.99, "smoke", None),
    ],
)
def test_what_small_models_do_not_reach_decides_nothing_and_the_search_is_named(share, scale, verdict):
    aim = replace(at_least("good", "length=10", share, "It is good."), search="symmetry/search-sums")
    claim = aim.claim(CURVES, scale)
    assert (claim.verdict, claim.sentence, claim.measured.estimate) == (verdict, "It is good.", 0.92)
    not_reached = share == 0.99 and scale == "laptop"
    assert ("not reached at this size, symmetry/search-sums" in claim.reason) == not_reached
    assert Claim.from_dict(claim.to_dict()) == claim


def test_failed_seeds_are_counted_and_never_dropped_in_silence():
    broken = curve([[1.0, 0.9, 0.8], [math.nan] * 3, [1.0, 0.9, 0.8]])
    for aim in (
        at_least("broken", "length=10", 0.5, "It is good."),
        Beats("A beats B.", AtLeast(0.02), "broken", "good", ("length=10",)),
    ):
        claim = aim.claim(Measured({**CURVES.curves, "broken": broken}), "laptop")
        assert (claim.seeds, claim.failed, claim.verdict) == (3, 1, "inconclusive")


def test_a_difference_is_the_mean_over_points_and_resamples_seeds():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 5, 40)), rng.random((2, 4, 40)) + 1
    found = hierarchical_difference(a, b)
    by_hand = np.mean([np.median(b[p].mean(1)) - np.median(a[p].mean(1)) for p in range(2)])
    assert found.estimate == pytest.approx(by_hand)
    assert found.low < by_hand < found.high
    assert math.isnan(hierarchical_difference(np.empty((2, 0, 40)), b).estimate)
    with pytest.raises(ValueError, match="not finite"):
        hierarchical_difference(np.full((1, 2, 3), np.nan), b[:1])


def test_the_predicate_bounds_are_read():
    assert (
        Keeps("It keeps little.", AtMost(0.5), Point("poor", "length=20")).claim(CURVES, "laptop").verdict
        == "supported"
    )
