"""The sampling law: a range of its own for every sequence, outside of training when the scale says so."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.sampling import draw_numbers, draw_range

TRAINING = {"low": -2.0, "high": 2.0}


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def reject(count, low, high, scale, seed):
    """The published rule word for word: draw again while the range lies inside that of training."""
    generator = seeded(seed)
    ends = torch.empty(0, 2, dtype=torch.float64)
    while len(ends) < count:
        ab = torch.rand(count, 2, generator=generator, dtype=torch.float64)
        ab = (scale * (low + (high - low) * ab)).sort(-1).values
        ends = torch.cat([ends, ab[~((ab[:, 0] >= low) & (ab[:, 1] <= high))]])
    return ends[:count, 0], ends[:count, 1]


@given(
    low=st.floats(-100, 100),
    width=st.floats(0.01, 100),
    scale=st.floats(0.01, 50) | st.sampled_from([1.0, 1.0 + 1e-15, 1.0001, 10.0]),
    seed=st.integers(0, 1000),
)
def test_ranges_keep_the_limits_and_the_rule(low, width, scale, seed):
    high = low + width
    lo, hi = draw_range(200, low=low, high=high, scale=scale, generator=seeded(seed))
    assert (lo <= hi).all()
    assert (lo >= scale * low).all()
    assert (hi <= scale * high).all()
    if scale * low < low or scale * high > high:
        assert ((lo < low) | (hi > high)).all()


@pytest.mark.parametrize("scale", [1 + 1e-15, 1.0001])
def test_the_rule_holds_however_little_sticks_out(scale):
    lo, hi = draw_range(10_000, **TRAINING, scale=scale, generator=seeded())
    assert ((lo < -2) | (hi > 2)).all()
    assert lo.min() >= -2 * scale
    assert hi.max() <= 2 * scale


def test_at_scale_1_nothing_is_refused():
    lo, hi = draw_range(100_000, **TRAINING, scale=1.0, generator=seeded())
    assert lo.mean() == pytest.approx(-2 / 3, abs=0.02)
    assert hi.mean() == pytest.approx(2 / 3, abs=0.02)


@pytest.mark.parametrize("scale", [0.1, 0.5])
def test_a_smaller_scale_only_shrinks_the_range(scale):
    lo, hi = draw_range(100_000, **TRAINING, scale=scale, generator=seeded())
    assert lo.mean() == pytest.approx(-2 / 3 * scale, abs=0.02 * scale)
    assert hi.mean() == pytest.approx(2 / 3 * scale, abs=0.02 * scale)


@pytest.mark.parametrize(
    ("low", "high", "scale"),
    [
        (-2, 2, 1.1),
        (-2, 2, 2),
        (-2, 2, 10),
        (-1, 3, 1.5),
        (0, 2, 2),
        (-2, 0, 3),
        (1, 2, 1.5),
        (1, 2, 0.75),
        (1, 2, 9),
    ],
)
def test_ranges_are_distributed_as_if_drawn_again_until_kept(low, high, scale):
    count = 40_000
    ours = draw_range(count, low=float(low), high=float(high), scale=float(scale), generator=seeded(1))
    theirs = reject(count, low, high, scale, seed=2)
    # Kolmogorov-Smirnov on lo, hi and the width between them, at its 0.1 % point.
    for a, b in [*zip(ours, theirs, strict=True), (ours[1] - ours[0], theirs[1] - theirs[0])]:
        grid = torch.cat([a, b]).sort().values
        ahead = torch.searchsorted(a.sort().values, grid) - torch.searchsorted(b.sort().values, grid)
        assert ahead.abs().max() / count < 1.95 * (2 / count) ** 0.5


def test_numbers_of_a_sequence_share_its_range():
    arguments = {**TRAINING, "scale": 10.0}
    lo, hi = draw_range(1000, **arguments, generator=seeded(3))
    x = draw_numbers(1000, 64, **arguments, generator=seeded(3))
    assert (x >= lo.float().unsqueeze(1)).all()
    assert (x <= hi.float().unsqueeze(1)).all()
    place = (x - lo.unsqueeze(1)) / (hi - lo).unsqueeze(1)
    assert place.mean() == pytest.approx(1 / 2, abs=0.01)
    assert place.var() == pytest.approx(1 / 12, rel=0.02)


@given(scale=st.floats(0.01, 100), seed=st.integers(0, 1000))
def test_numbers_keep_the_scaled_limits(scale, seed):
    x = draw_numbers(500, 8, **TRAINING, scale=scale, generator=seeded(seed))
    assert x.abs().max() <= torch.tensor(2 * scale)  # both in float32


@pytest.mark.parametrize(
    ("name", "at_1", "at_10"),
    [
        ("sum", 18.0, 1825),
        ("min", 0.836, 84.2),
        ("median", 0.777, 78.6),
        ("sort", 0.775, 78.4),
        ("max-subarray", 6.58, 656),
    ],
)
def test_targets_vary_as_published(name, at_1, at_10):
    """The variance of a target about the mean of its place, averaged over the 8 places."""
    task, generator = make_task(name, length=8), seeded(4)
    for scale, variance in [(1.0, at_1), (10.0, at_10)]:
        target = task.sample(200_000, generator=generator, scale=scale).target
        assert target.var(0).mean().item() == pytest.approx(variance, rel=0.02)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_bad_scales_are_refused(scale):
    with pytest.raises(OrdinateError, match="scale must be above 0"):
        draw_range(1, **TRAINING, scale=scale, generator=seeded())


def test_bad_counts_are_refused():
    with pytest.raises(OrdinateError, match="count must be at least 1, got 0"):
        draw_range(0, **TRAINING, scale=1.0, generator=seeded())
