"""Statistics over seeds: failed seeds are counted, intervals cover, ratios do not depend on units."""

import json
import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.lab.evaluation.statistics import (
    Interval,
    bootstrap_interval,
    coverage_ceiling,
    hierarchical_ratio,
    hierarchical_trend,
    split_failed,
    summarise,
)

finite = st.floats(-1e6, 1e6, allow_nan=False)
seeds = st.lists(finite, min_size=1, max_size=12)
broken = st.sampled_from([math.nan, math.inf, -math.inf])


def errors(*shape: int, seed: int = 0, spread: float = 0.5) -> np.ndarray:
    """Positive errors with a level of its own for each seed."""
    rng = np.random.default_rng(seed)
    level = rng.lognormal(0, spread, size=(*shape[:-1], 1))
    return level * rng.exponential(size=shape)


class TestSummarise:
    @given(seeds)
    def test_band_and_interval_enclose_the_median(self, values):
        s = summarise(values, draws=200)
        rounding = 1e-9 * max(map(abs, values))
        assert min(values) <= s.low <= s.high <= max(values)
        assert s.low - rounding <= s.median <= s.high + rounding
        assert min(values) <= s.interval.low <= s.interval.high <= max(values)
        assert s.interval.estimate == s.median == np.median(values)

    @given(seeds, st.lists(broken, max_size=4), st.randoms())
    def test_failed_seeds_are_counted_and_change_nothing_else(self, values, failures, random):
        mixed = values + failures
        random.shuffle(mixed)
        kept = [v for v in mixed if math.isfinite(v)]
        s, clean = summarise(mixed, draws=200), summarise(kept, draws=200)
        assert (s.count, s.failed, s.finite) == (len(mixed), len(failures), len(values))
        assert (s.median, s.low, s.high, s.interval) == (clean.median, clean.low, clean.high, clean.interval)

    @pytest.mark.parametrize("values", [[], [math.nan, math.inf]])
    def test_without_a_finite_seed_everything_is_unknown_but_the_counts(self, values):
        s = summarise(values)
        assert math.isnan(s.median)
        assert math.isnan(s.interval.low)
        assert s.failed == s.count == len(values)

    def test_is_json_without_nan(self):
        text = json.dumps(summarise([math.nan]).to_dict(), allow_nan=False)
        assert json.loads(text) == {
            "median": None,
            "low": None,
            "high": None,
            "interval": {"estimate": None, "low": None, "high": None, "level": 0.95},
            "count": 1,
            "failed": 1,
        }

    def test_takes_an_array(self):
        assert summarise(np.array([1.0, 3.0, 2.0])).median == 2.0


class TestBootstrap:
    def test_same_seed_same_interval(self):
        values = errors(9)
        assert bootstrap_interval(values, seed=4) == bootstrap_interval(values, seed=np.random.default_rng(4))
        assert bootstrap_interval(values, np.mean, seed=4) != bootstrap_interval(values, np.mean, seed=5)

    @given(seeds, st.integers(1, 50), st.integers(-50, 50))
    def test_moves_with_the_unit(self, values, factor, shift):
        one = bootstrap_interval(values, draws=100)
        two = bootstrap_interval([factor * v + shift for v in values], draws=100)
        assert (two.low, two.high) == pytest.approx(
            (factor * one.low + shift, factor * one.high + shift), abs=1e-6
        )

    def test_a_higher_level_is_never_narrower(self):
        values = errors(20)
        inner, outer = (bootstrap_interval(values, level=level) for level in (0.5, 0.95))
        assert outer.low <= inner.low <= inner.high <= outer.high

    def test_covers_the_true_mean_about_as_often_as_it_says(self):
        rng = np.random.default_rng(0)
        hits = [
            bootstrap_interval(rng.normal(3, 1, 30), np.mean, draws=500, seed=rng).contains(3)
            for _ in range(300)
        ]
        assert 0.88 <= np.mean(hits) <= 0.98

    def test_few_seeds_cover_the_median_as_often_as_the_ceiling_allows(self):
        rng = np.random.default_rng(0)
        hits = [bootstrap_interval(rng.normal(size=3), draws=400, seed=rng).contains(0) for _ in range(600)]
        assert np.mean(hits) == pytest.approx(coverage_ceiling(3), abs=0.06)

    def test_refuses_failed_seeds_and_nothing_at_all(self):
        with pytest.raises(ValueError, match="not finite"):
            bootstrap_interval([1.0, math.nan])
        with pytest.raises(ValueError, match="at least one"):
            bootstrap_interval([])

    @pytest.mark.parametrize("level", [0.0, 1.0, 95.0])
    def test_refuses_a_level_that_is_no_probability(self, level):
        with pytest.raises(ValueError, match="between 0 and 1"):
            bootstrap_interval([1.0, 2.0], level=level)


class TestInterval:
    def test_refuses_ends_in_the_wrong_order(self):
        with pytest.raises(ValueError, match="low to high"):
            Interval(1.0, 2.0, 0.0, 0.95)


class TestSplitFailed:
    def test_a_seed_that_fails_at_one_point_has_failed(self):
        table = np.ones((3, 4, 5))
        table[2, 1, 0] = np.inf
        table[0, 3, 4] = np.nan
        good, failed = split_failed(table)
        assert good.shape == (3, 2, 5)
        assert failed == 2

    def test_keeps_whole_seeds_as_they_are(self):
        table = errors(4, 6)
        good, failed = split_failed(table)
        assert failed == 0
        np.testing.assert_array_equal(good, table)


class TestHierarchicalRatio:
    def test_is_the_ratio_of_medians_of_means(self):
        a, b = errors(5, 40), 7 * errors(4, 30, seed=1)
        expected = np.median(b.mean(1)) / np.median(a.mean(1))
        ratio = hierarchical_ratio(a, b, draws=300)
        assert ratio.estimate == pytest.approx(expected)
        assert ratio.low < expected < ratio.high

    @given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
    def test_does_not_depend_on_the_unit(self, unit, factor):
        a, b = errors(3, 20), errors(3, 20, seed=1)
        one, two = (
            hierarchical_ratio(a, b, draws=100),
            hierarchical_ratio(unit * a, unit * factor * b, draws=100),
        )
        assert (two.estimate, two.low, two.high) == pytest.approx(
            (factor * one.estimate, factor * one.low, factor * one.high)
        )

    def test_turned_round_it_is_the_inverse(self):
        a, b = errors(6, 50), 3 * errors(6, 50, seed=1)
        there, back = hierarchical_ratio(a, b), hierarchical_ratio(b, a)
        assert back.estimate == pytest.approx(1 / there.estimate)
        assert (1 / back.high, 1 / back.low) == pytest.approx((there.low, there.high), rel=0.3)

    def test_a_large_gap_is_seen_with_three_seeds(self):
        a, b = errors(3, 1000, spread=0.2), 100 * errors(3, 1000, seed=2, spread=0.2)
        assert hierarchical_ratio(a, b).low > 10

    @pytest.mark.parametrize(("count", "mistaken"), [(3, 0.10), (6, 0.05)])
    def test_equal_models_are_rarely_told_apart(self, count, mistaken):
        """The worst case, seeds that differ far more than test samples: three can separate by chance."""
        pairs = [
            (errors(count, 50, seed=2 * i, spread=2.0), errors(count, 50, seed=2 * i + 1, spread=2.0))
            for i in range(300)
        ]
        told_apart = [
            not hierarchical_ratio(a, b, draws=400, seed=i).contains(1) for i, (a, b) in enumerate(pairs)
        ]
        assert np.mean(told_apart) <= mistaken + 0.03

    def test_both_levels_widen_the_interval(self):
        def width(seed_spread: float, samples: int) -> float:
            a, b = (errors(8, samples, seed=s, spread=seed_spread) for s in (1, 2))
            interval = hierarchical_ratio(a, b)
            return math.log(interval.high / interval.low)

        assert width(0.5, 1000) > 2 * width(0.01, 1000)
        assert width(0.01, 20) > 2 * width(0.01, 1000)

    def test_covers_the_true_ratio(self):
        rng = np.random.default_rng(3)

        def sample(scale: float) -> np.ndarray:
            return scale * rng.lognormal(0, 0.3, size=(8, 1)) * rng.exponential(size=(8, 60))

        hits = [
            hierarchical_ratio(sample(1.0), sample(4.0), draws=300, seed=rng).contains(4) for _ in range(200)
        ]
        assert np.mean(hits) >= 0.9

    def test_pairs_the_test_samples_of_a_and_b(self):
        """Errors that differ by a constant factor on every sample leave only the noise of the seeds."""
        a = np.tile(errors(200), (3, 1))
        ratio = hierarchical_ratio(a, 5 * a)
        assert (ratio.low, ratio.high) == pytest.approx((5, 5))

    def test_is_fast_enough_for_ten_seeds_of_a_thousand_samples(self):
        a, b = errors(10, 1000), errors(10, 1000, seed=1)
        start = time.process_time()
        hierarchical_ratio(a, b, draws=2000)
        assert time.process_time() - start < 3

    def test_many_samples_are_resampled_in_blocks(self):
        a = np.full((2, 300_000), 2.0)
        assert hierarchical_ratio(a, 3 * a, draws=40).high == pytest.approx(3)

    def test_takes_single_precision(self):
        a = errors(3, 10)
        one = hierarchical_ratio(a.astype(np.float32), a.astype(np.float32))
        assert one.estimate == 1

    def test_failed_seeds_must_be_separated_first(self):
        a = errors(3, 10)
        b = a.copy()
        b[1, 4] = np.nan
        with pytest.raises(ValueError, match=r"errors_b hold 1 .* split_failed"):
            hierarchical_ratio(a, b)
        with pytest.raises(ValueError, match="negative"):
            hierarchical_ratio(a, -a)

    def test_without_seeds_it_is_unknown_and_a_perfect_model_is_infinitely_better(self):
        a = errors(3, 10)
        assert math.isnan(hierarchical_ratio(a, np.empty((0, 10))).estimate)
        assert hierarchical_ratio(np.zeros((3, 10)), a).low == math.inf


class TestHierarchicalTrend:
    axis = np.arange(1.0, 11.0)

    @pytest.mark.parametrize("power", [-1.0, 0.0, 2.5])
    def test_finds_the_exponent(self, power):
        a = errors(10, 5, 400, spread=0.1)
        b = self.axis[:, None, None] ** power * errors(10, 5, 400, seed=1, spread=0.1)
        trend = hierarchical_trend(self.axis, a, b)
        assert trend.estimate == pytest.approx(power, abs=0.3)
        assert trend.contains(power)

    @given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
    def test_depends_on_no_unit_of_error_or_axis(self, error_unit, axis_unit):
        a, b = errors(4, 3, 20), errors(4, 3, 20, seed=1)
        x = np.array([1.0, 2.0, 5.0, 9.0])
        one = hierarchical_trend(x, a, b, draws=100)
        two = hierarchical_trend(axis_unit * x, a, error_unit * b, draws=100)
        assert (two.estimate, two.low, two.high) == pytest.approx((one.estimate, one.low, one.high), abs=1e-6)

    def test_a_seed_is_one_model_at_all_points(self):
        """Seeds that differ by a constant factor along the whole axis add no doubt to the slope."""
        level = np.array([1.0, 10.0, 100.0])[None, :, None]
        b = self.axis[:, None, None] * level * np.ones((10, 3, 4))
        trend = hierarchical_trend(self.axis, np.ones((10, 3, 4)), b)
        assert (trend.low, trend.high) == pytest.approx((1, 1))

    def test_refuses_an_axis_that_does_not_fit(self):
        a = errors(3, 2, 4)
        with pytest.raises(ValueError, match="one axis value a point"):
            hierarchical_trend([1.0, 2.0], a, a)
        with pytest.raises(ValueError, match="two different"):
            hierarchical_trend([2.0, 2.0, 2.0], a, a)
        with pytest.raises(ValueError, match="above 0"):
            hierarchical_trend([0.0, 1.0, 2.0], a, a)

    def test_without_seeds_it_is_unknown(self):
        assert math.isnan(hierarchical_trend([1.0, 2.0], errors(2, 3, 4), np.empty((2, 0, 4))).low)


def test_six_seeds_are_the_first_that_can_carry_95_percent():
    assert next(n for n in range(1, 9) if coverage_ceiling(n) >= 0.95) == 6
