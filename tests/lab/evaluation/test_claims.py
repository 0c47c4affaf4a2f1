"""Verdicts: the whole interval decides, few seeds decide nothing, small scales give no verdict at all."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.claims import AtLeast, AtMost, Between, Claim, Predicate, Within
from ordinate.lab.evaluation.statistics import Interval

TEN_OR_MORE = AtLeast(10)


def claim(
    low: float = 20.0,
    high: float = 30.0,
    predicate: Predicate = TEN_OR_MORE,
    *,
    seeds: int = 5,
    failed: int = 0,
    scale: str = "laptop",
) -> Claim:
    return Claim(
        sentence="A beats B.",
        measured=Interval((low + high) / 2, low, high, 0.95),
        predicate=predicate,
        published=25.0,
        seeds=seeds,
        failed=failed,
        scale=scale,
    )


@pytest.mark.parametrize(
    ("predicate", "low", "high", "verdict"),
    [
        (AtLeast(10), 20.0, 30.0, "supported"),
        (AtLeast(10), 10.0, 30.0, "supported"),
        (AtLeast(10), 9.9, 30.0, "inconclusive"),
        (AtLeast(10), 1.0, 10.0, "inconclusive"),
        (AtLeast(10), 1.0, 9.9, "contradicted"),
        (AtLeast(10), math.inf, math.inf, "supported"),
        (AtMost(0.5), 0.1, 0.5, "supported"),
        (AtMost(0.5), 0.1, 0.6, "inconclusive"),
        (AtMost(0.5), 0.6, 0.7, "contradicted"),
        (Within(10), 0.1, 10.0, "supported"),
        (Within(10), 0.05, 5.0, "inconclusive"),
        (Within(10), 0.05, 50.0, "inconclusive"),
        (Within(10), 11.0, 50.0, "contradicted"),
        (Within(10), 0.01, 0.09, "contradicted"),
        (AtLeast(10), math.nan, math.nan, "inconclusive"),
    ],
)
def test_the_whole_interval_decides(predicate, low, high, verdict):
    assert claim(low, high, predicate).verdict == verdict


@pytest.mark.parametrize(("seeds", "failed"), [(1, 0), (2, 0), (3, 1), (5, 3), (4, 4)])
def test_fewer_than_three_finite_seeds_decide_nothing(seeds, failed):
    judged = claim(seeds=seeds, failed=failed)
    assert judged.verdict == "inconclusive"
    assert "3 needed" in judged.reason


def test_a_half_of_failed_seeds_decides_nothing():
    judged = claim(seeds=8, failed=4)
    assert (judged.verdict, judged.reason) == ("inconclusive", "4 of 8 seeds failed")
    assert claim(seeds=8, failed=3).verdict == "supported"


@pytest.mark.parametrize("scale", ["smoke", "demo"])
@pytest.mark.parametrize("seeds", [1, 10])
@pytest.mark.parametrize("low", [1.0, 20.0])
def test_smoke_and_demo_give_no_verdict_and_say_so(scale, seeds, low):
    judged = claim(low, seeds=seeds, scale=scale)
    assert judged.verdict is None
    assert "no verdict" in judged.reason
    assert ("one seed" in judged.reason) == (seeds == 1)


@given(st.floats(-100, 100), st.floats(0, 100), st.floats(-100, 100), st.floats(0, 50))
def test_a_weaker_claim_is_never_judged_worse(low, width, bound, slack):
    order = ["contradicted", "inconclusive", "supported"]
    strong, weak = (claim(low, low + width, AtLeast(b)).verdict for b in (bound, bound - slack))
    assert order.index(weak) >= order.index(strong)


@given(st.floats(-100, 100), st.floats(0, 100), st.floats(-100, 100))
def test_at_least_and_at_most_are_mirror_images(low, width, bound):
    one = claim(low, low + width, AtLeast(bound)).verdict
    assert claim(-low - width, -low, AtMost(-bound)).verdict == one


@given(st.floats(1e-3, 1e3), st.floats(1, 100), st.floats(1, 100))
def test_equivalence_does_not_care_which_model_is_on_top(low, spread, factor):
    measured = Interval(low, low, low * spread, 0.95)
    turned = Interval(1 / low, 1 / (low * spread), 1 / low, 0.95)
    verdicts = {Within(factor).judge(measured), Within(factor).judge(turned)}
    at_the_edge = any(
        math.isclose(end, edge, rel_tol=1e-9)
        for end in (measured.low, measured.high)
        for edge in (factor, 1 / factor)
    )
    assert len(verdicts) == 1 or at_the_edge


def test_json_has_stable_keys():
    document = json.loads(json.dumps(claim(failed=1).to_dict(), allow_nan=False))
    assert document == {
        "sentence": "A beats B.",
        "verdict": "supported",
        "reason": "the 95 % interval lies wholly inside “at least 10”",
        "measured": {"estimate": 25.0, "low": 20.0, "high": 30.0, "level": 0.95},
        "predicate": {"kind": "at least", "text": "at least 10", "lowest": 10.0, "highest": None},
        "published": 25.0,
        "seeds": 5,
        "failed": 1,
        "scale": "laptop",
        "exact": False,
    }


@pytest.mark.parametrize("predicate", [AtLeast(2), AtMost(0.5), Within(10), Between(1, 2)])
def test_every_predicate_says_what_it_wants(predicate):
    assert str(predicate).startswith(predicate.kind)
    assert predicate.to_dict()["text"] == str(predicate)
    assert Predicate.from_dict(predicate.to_dict()) == predicate


@pytest.mark.parametrize(("value", "verdict"), [(0.998, "supported"), (0.9, "contradicted")])
def test_an_exact_number_needs_no_seeds_but_a_scale_that_judges(value, verdict):
    judged = Claim.of_exact("It is so.", value, Between(0.9975, 0.9985), 0.998, "laptop")
    assert judged.verdict == verdict
    assert judged.basis == "exact"
    assert "the exact value lies" in judged.reason
    assert Claim.from_dict(judged.to_dict()) == judged
    assert Claim.of_exact("It is so.", value, AtLeast(0), None, "smoke").verdict is None


def test_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="cannot have failed"):
        claim(seeds=3, failed=4)
    with pytest.raises(ValueError, match="factor is 1 or more"):
        Within(0.5)
    with pytest.raises(ValueError, match="from low to high"):
        Between(2, 1)


def test_an_unknown_scale_names_the_nearest():
    """Where nothing checks types, the claim does."""
    judged = object.__new__(Claim)
    for name, value in {"scale": "labtop", "seeds": 3, "failed": 0}.items():
        object.__setattr__(judged, name, value)
    with pytest.raises(OrdinateError, match="laptop"):
        judged.__post_init__()
