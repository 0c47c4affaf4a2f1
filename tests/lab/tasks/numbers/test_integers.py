"""Whole numbers: drawn from the whole range, answered exactly, counted right within 10 %."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import sweep
from ordinate.lab.tasks import TASKS, make_task

NUMBERS = [name for name, task in TASKS.items() if task.family == "numbers"]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("scale", [1.0, 2.6])
def test_all_inputs_are_whole_at_any_scale(name, scale, generator):
    task = make_task(name, integers=True)
    batch = task.sample(500, generator=generator, scale=scale)
    other = task.redraw(batch, 0, generator)
    for inputs in (batch.input, other):
        assert torch.equal(inputs, inputs.round())
    furthest = int(2 * scale)
    least = 0 if name == "path" else -furthest
    assert batch.input.unique().tolist() == list(range(least, furthest + 1))


@pytest.mark.parametrize("name", NUMBERS)
def test_tests_alone_can_have_whole_numbers(name, generator):
    task = make_task(name, integer_tests=True)
    trained, tested = (
        task.sample(50, generator=generator),
        task.tested().sample(50, generator=generator, scale=3.0),
    )
    assert not torch.equal(trained.input, trained.input.round())
    assert torch.equal(tested.input, tested.input.round())
    assert task.tested() == make_task(name, integers=True)
    # a sweep draws what tests draw
    seen = []
    sweep(lambda x, c: seen.append(x) or task.reference(x, c), task, "scale", [2.0], count=20)
    assert all(torch.equal(x, x.round()) for x in seen)


def test_whole_numbers_are_uniform_on_the_range(generator):
    inputs = make_task("sum", integers=True).sample(5000, generator=generator).input
    counts = inputs.unique(return_counts=True)[1]
    assert (counts / 8000 - 1).abs().max() < 0.05


def test_they_are_written_as_such(generator):
    task = make_task("median", length=3, integers=True)
    batch = task.sample(1, generator=generator)
    inputs = torch.tensor([[[1.0], [-2.0], [0.0]]])
    batch = batch._replace(input=inputs, target=task.reference(inputs))
    assert task.show(batch) == [{"input": "1 -2 0", "target": "1 -0.50 0"}]


@pytest.mark.parametrize(("error", "accuracy"), [(0.0, 1.0), (0.099, 1.0), (0.2, 0.0)])
def test_an_answer_counts_within_ten_percent(error, accuracy):
    """|output - target| <= 0.1 + 0.1 |target| at every place."""
    task = make_task("sum", integers=True)
    for point in sweep(lambda x, c: task.reference(x) * (1 + error), task, "scale", [5.0], count=200):
        assert point.accuracy == pytest.approx(accuracy, abs=0.05)


def test_a_scale_without_whole_numbers_is_refused(generator):
    task = make_task("sum", low=1, high=1.5, integers=True)
    with pytest.raises(OrdinateError, match=r"no whole number from 0\.1 to 0\.15: write a larger scale"):
        task.sample(1, generator=generator, scale=0.1)
