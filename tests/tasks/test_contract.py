"""What every registered task keeps to, whatever it computes."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.tasks import TASKS

every = pytest.mark.parametrize("name", TASKS)


def seeded(seed):
    return torch.Generator().manual_seed(seed)


@every
def test_it_says_what_it_is(name):
    task = TASKS[name]
    assert task.name == name
    assert task.family
    assert task.summary
    assert "\n" not in task.summary
    assert set(task.axes) <= {"length", "scale"}
    assert task.__doc__


@every
@pytest.mark.parametrize("variable", [False, True])
def test_samples_coordinates_and_scores_agree_at_every_length(name, variable, generator):
    task = TASKS[name](length=7, variable=variable)
    lengths = task.lengths()
    assert lengths == (tuple(range(lengths[0], 8)) if variable else (7,))
    for length in lengths:
        batch = task.sample(5, generator=generator, length=length)
        tokens = len(task.coordinates(length))
        assert batch.input.shape == (5, tokens, task.features)
        assert batch.target.shape == (5, tokens, task.outputs)
        assert task.scored(length).shape == (tokens, task.outputs)
        assert task.scored(length).any()
        assert batch.input.dtype == batch.target.dtype == torch.float32
        assert batch.target.isfinite().all()
        assert torch.equal(batch.target, task.reference(batch.input))


@every
def test_the_default_length_is_the_longest_trained(name, generator):
    task = TASKS[name](length=5, variable=True)
    assert task.sample(2, generator=generator).input.shape[1] == len(task.coordinates(5))


@every
def test_a_length_axis_goes_past_training(name, generator):
    task = TASKS[name](length=4)
    if "length" in task.axes:
        assert task.sample(2, generator=generator, length=50).input.shape[1] == len(task.coordinates(50))
    else:
        with pytest.raises(OrdinateError):
            task.sample(2, generator=generator, length=50)


@every
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_a_generator_decides_everything(name, scale):
    task = TASKS[name](length=6)
    torch.manual_seed(0)
    one = task.sample(20, generator=seeded(1), scale=scale)
    torch.manual_seed(1)
    again = task.sample(20, generator=seeded(1), scale=scale)
    other = task.sample(20, generator=seeded(2), scale=scale)
    assert torch.equal(one.input, again.input)
    assert torch.equal(one.target, again.target)
    assert not torch.equal(one.input, other.input)


@every
def test_a_generator_moves_on(name, generator):
    task = TASKS[name]()
    assert not torch.equal(
        task.sample(3, generator=generator).input, task.sample(3, generator=generator).input
    )


@every
def test_the_reference_keeps_float64(name, generator):
    task = TASKS[name](length=5)
    inputs = task.sample(3, generator=generator).input.double()
    assert task.reference(inputs).dtype == torch.float64


@every
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"count": -3}, "count must be at least 1, got -3"),
        ({"length": 0}, "length must be [12] to [0-9]+, got 0"),
        ({"length": -1}, "length must be [12] to [0-9]+, got -1"),
        ({"length": 10**9}, "length must be [12] to [0-9]+, got 1000000000"),
        ({"scale": 0.0}, "scale must be above 0 and at most 5e[+]14, got 0.0"),
        ({"scale": -2.0}, "scale must be above 0"),
        ({"scale": float("nan")}, "scale must be above 0"),
    ],
)
def test_bad_requests_are_refused_in_one_line(name, bad, message, generator):
    with pytest.raises(OrdinateError, match=message) as error:
        TASKS[name]().sample(**{"count": 2, "generator": generator, **bad})
    assert "\n" not in str(error.value)
    assert "write" in str(error.value)


@every
def test_show_gives_a_row_a_sample(name, generator):
    task = TASKS[name](length=3)
    rows = task.show(task.sample(4, generator=generator))
    assert len(rows) == 4
    assert all(list(row) == ["input", "target"] for row in rows)
    assert all(isinstance(cell, str) and cell for row in rows for cell in row.values())


@every
def test_a_task_is_a_value(name):
    task = TASKS[name](length=5)
    assert task == TASKS[name](length=5)
    assert hash(task) == hash(TASKS[name](length=5))
    assert task != TASKS[name](length=6)
    assert TASKS[name](**dict(task)) == task


@pytest.mark.parametrize("name", sorted(TASKS.keys() - {"min-sum", "path"}))
def test_scalar_tasks_have_one_field_and_score_everything(name):
    coordinates = TASKS[name]().coordinates(3)
    assert coordinates.fields == ("number",)
    assert coordinates.ordinate == (0, 1, 2)
    assert TASKS[name]().scored(3).all()


def test_min_sum_has_two_fields_and_scores_one_output():
    coordinates = TASKS["min-sum"]().coordinates(2)
    assert coordinates.fields == ("first", "second")
    assert coordinates.field == (0, 0, 1, 1)
    assert coordinates.ordinate == (0, 1, 0, 1)
    assert TASKS["min-sum"]().scored(2).flatten().tolist() == [True, False, False, False]


def test_path_names_its_tokens_vertices():
    assert TASKS["path"]().coordinates(3).label(2) == "vertex 2"
