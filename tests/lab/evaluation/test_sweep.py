"""Sweeps: axes as text, test sets, and the metrics of perfect and poor models."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.metrics import squared_error, within_tolerance
from ordinate.lab.evaluation.sweep import Axis, measure, sweep, test_set
from ordinate.lab.tasks import make_task

SUM = make_task("sum", length=4)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("scale=1:10:3", (1.0, 4.0, 7.0, 10.0)),
        ("scale=1:3", (1.0, 2.0, 3.0)),
        ("length=2,4,8", (2.0, 4.0, 8.0)),
        ("scale=0.1:0.3:0.1", (0.1, 0.2, pytest.approx(0.3))),
    ],
)
def test_axes_are_read_from_text(text, values):
    axis = Axis.parse(text)
    assert axis.values == values
    assert axis.name == text.split("=")[0]


@pytest.mark.parametrize(
    "text", ["scale", "=1", "scale=", "scale=a", "scale=5:1", "scale=1:5:0", "scale=1:2:3:4"]
)
def test_text_that_is_no_axis_is_refused(text):
    with pytest.raises(OrdinateError, match=r"write name=first:last"):
        Axis.parse(text)


@pytest.mark.parametrize("text", ["scale=1:1e12", "scale=1:1e300:1e-300"])
def test_an_axis_without_end_is_refused(text):
    with pytest.raises(OrdinateError, match=r"more than 10000 points|not understood"):
        Axis.parse(text)


def test_a_perfect_model_has_no_error_anywhere():
    for point in sweep(lambda x, c: SUM.reference(x), SUM, "scale", [1.0, 5.0], count=50):
        assert (point.mse, point.relative_error, point.variance_share, point.accuracy) == (0, 0, 0, 1)


def test_zero_has_relative_error_one_and_the_best_constant_the_whole_variance():
    zero = sweep(lambda x, c: torch.zeros_like(x), SUM, "scale=1:10:9", count=2000)
    assert [p.relative_error for p in zero] == pytest.approx([1, 1])
    tests = test_set(SUM, "scale", 1.0, count=2000, seed=0)
    mean = tests.batches[0].target.mean()
    point, errors = measure(lambda x, c: mean.expand_as(x), SUM, tests)
    assert point.variance_share == pytest.approx(1, rel=1e-4)
    assert errors.shape == (2000,)
    assert float(errors.mean()) == pytest.approx(point.mse, rel=1e-5)


def test_in_distribution_is_marked():
    points = sweep(lambda x, c: x, SUM, "scale=1,2", count=10) + sweep(
        lambda x, c: x, SUM, "length=2,4", count=10
    )
    assert [(p.axis, p.value, p.in_distribution) for p in points] == [
        ("scale", 1, True),
        ("scale", 2, False),
        ("length", 2, False),
        ("length", 4, True),
    ]
    assert points[2].lengths == (2,)


def test_variable_tasks_are_tested_on_all_lengths_evenly():
    task = make_task("sum", length=4, variable=True)
    tests = test_set(task, "scale", 2.0, count=100, seed=0)
    assert [(len(b.coordinates), len(b.input)) for b in tests.batches] == [(1, 25), (2, 25), (3, 25), (4, 25)]


def test_test_sets_depend_on_the_seed_only():
    a, b, other = (test_set(SUM, "scale", 3.0, count=5, seed=s).batches[0].input for s in (0, 0, 1))
    assert torch.equal(a, b)
    assert not torch.equal(a, other)


def test_unknown_axes_and_broken_lengths():
    with pytest.raises(OrdinateError, match=r"has no axis 'scael': did you mean 'scale'"):
        sweep(lambda x, c: x, SUM, "scael", [1.0])
    with pytest.raises(OrdinateError, match="not a whole number"):
        sweep(lambda x, c: x, SUM, "length", [2.5])


def test_points_are_plain_data():
    assert sweep(lambda x, c: x, SUM, "scale=1,1", count=3)[0].to_dict()["count"] == 3


@given(st.integers(0, 2**31))
def test_metrics_against_loops(seed):
    g = torch.Generator().manual_seed(seed)
    output, target = torch.randn(2, 4, 3, 2, generator=g, dtype=torch.float64)
    scored = torch.tensor([[True, False], [True, True], [False, True]])
    errors = squared_error(output, target, scored)
    close = within_tolerance(output, target, scored, relative=0.1, absolute=0.5)
    for b in range(4):
        cells = [(i, j) for i in range(3) for j in range(2) if scored[i, j]]
        gaps = [abs(float(output[b, i, j] - target[b, i, j])) for i, j in cells]
        assert math.isclose(float(errors[b]), sum(gap**2 for gap in gaps) / len(gaps), rel_tol=1e-9)
        limits = [0.5 + 0.1 * abs(float(target[b, i, j])) for i, j in cells]
        assert bool(close[b]) == all(gap <= limit for gap, limit in zip(gaps, limits, strict=True))
