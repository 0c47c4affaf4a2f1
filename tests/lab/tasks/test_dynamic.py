"""Dynamic programming: answers by brute force, the way samples are drawn, what is refused."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.dynamic import best_values, common_lengths, edit_distances

from . import brute_force

NAMES = ["edit-distance", "lcs", "knapsack"]
numbers = st.lists(st.integers(0, 3), min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("fast", "slow"), [(edit_distances, brute_force.edit_distance), (common_lengths, brute_force.lcs)]
)
@given(first=numbers, second=numbers)
def test_two_sequences_are_compared_as_defined(fast, slow, first, second):
    """Sequences of any two lengths; every prefix of the second."""
    found = fast(torch.tensor([first], dtype=torch.float64), torch.tensor([second], dtype=torch.float64))
    assert found[0].tolist() == [slow(first, second[: j + 1]) for j in range(len(second))]


@settings(max_examples=30)
@given(
    items=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 20)), min_size=1, max_size=7),
    capacity=st.integers(0, 20),
)
def test_the_best_value_is_that_of_all_sets_of_items(items, capacity):
    weights, values = zip(*items, strict=True)
    found = best_values(
        *(torch.tensor([part], dtype=torch.float64) for part in (weights, values, [capacity]))
    )
    prefixes = range(1, len(items) + 1)
    assert found[0].tolist() == [brute_force.knapsack(weights[:i], values[:i], capacity) for i in prefixes]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1.0, 3.5])
def test_every_sample_of_a_batch_is_answered_on_its_own(name, scale, generator):
    task = make_task(name, length=5)
    slow = getattr(brute_force, name.replace("-", "_"))
    for row in task.show(task.sample(20, generator=generator, scale=scale)):
        parts = [[int(x) for x in part.split()] for part in row["input"].split(" / ")]
        for place, answer in enumerate(row["target"].split(), start=1):
            arguments = (
                (parts[0][:place], parts[1][:place], parts[2][0])
                if name == "knapsack"
                else (parts[0], parts[1][:place])
            )
            assert int(answer) == slow(*arguments)


@pytest.mark.parametrize("name", ["edit-distance", "lcs"])
def test_a_scale_widens_the_range_and_leaves_the_answers_alone(name, generator):
    task = make_task(name)
    near, far = (task.sample(4000, generator=generator, scale=c) for c in (1.0, 10.0))
    assert near.input.unique().tolist() == [0, 1, 2, 3]
    assert far.input.unique().tolist() == list(range(40))
    assert max(len(set(x)) for x in far.input[..., 0].tolist()) == 4
    last = [batch.target[:, -1].mean().item() for batch in (near, far)]
    assert abs(last[0] - last[1]) < 0.1


def test_a_knapsack_holds_any_one_of_its_items(generator):
    task = make_task("knapsack", length=6)
    batch = task.sample(2000, generator=generator, scale=2.0)
    weights, values, capacity = batch.input[..., 0].split([6, 6, 1], dim=1)
    assert weights.unique().tolist() == [1, 2, 3, 4]
    assert values.unique().tolist() == list(range(1, 21))
    assert capacity.unique().tolist() == list(range(4, 13))
    assert (batch.target[:, 6:12, 0] >= values[:, :1]).all()


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_read_in_one_field(name):
    task = make_task(name)
    coordinates = task.coordinates(3)
    read = [coordinates.label(int(i)) for i in task.scored(coordinates)[:, 0].nonzero()]
    assert read == [f"{task.answered} {place}" for place in range(3)]


@pytest.mark.parametrize(("name", "tokens"), [("edit-distance", 5), ("lcs", 3), ("knapsack", 4)])
def test_inputs_that_cannot_be_are_refused(name, tokens):
    with pytest.raises(OrdinateError, match=r"give an (even|odd) number"):
        make_task(name).reference(torch.ones(1, tokens, 1))
