"""Training data: a batch is a function of seed and step."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe, Training, train
from ordinate.lab.training.data import Data
from ordinate.models import ResidualEncoder

SUM = make_task("sum", length=4)
VARIABLE = make_task("sum", length=4, variable=True)


@given(st.integers(0, 1000), st.integers(0, 5), st.sampled_from([None, 50]))
def test_a_batch_does_not_depend_on_what_was_asked_before(step, seed, samples):
    fresh = Data(SUM, batch=7, samples=samples, seed=seed)
    used = Data(SUM, batch=7, samples=samples, seed=seed)
    for other in (0, 3, step + 1):
        used.at(other)
    assert torch.equal(fresh.at(step).input, used.at(step).input)


def test_an_epoch_shows_every_sample_once_in_a_new_order():
    data = Data(SUM, batch=8, samples=30, seed=0)
    assert data.epoch == 4
    epochs = [torch.cat([data.at(e * 4 + i).input for i in range(4)]) for e in range(2)]
    assert not torch.equal(epochs[0], epochs[1])
    whole = data.sets[4].input
    for epoch in epochs:
        assert len(epoch) == 30
        assert {tuple(row.flatten().tolist()) for row in epoch} == {
            tuple(row.flatten().tolist()) for row in whole
        }


def test_fresh_data_never_repeats():
    data = Data(SUM, batch=8, samples=None, seed=0)
    assert not torch.equal(data.at(0).input, data.at(1).input)


def test_targets_are_the_exact_answers():
    batch = Data(SUM, batch=8, samples=20, seed=1).at(5)
    assert torch.equal(batch.target, SUM.reference(batch.input))


def test_lengths_are_seen_equally_often_and_by_all_seeds_at_the_same_step():
    for samples in (None, 40):
        a, b = (Data(VARIABLE, batch=5, samples=samples, seed=s) for s in (0, 1))
        lengths = [a.at(step).input.shape[1] for step in range(12)]
        assert lengths == [b.at(step).input.shape[1] for step in range(12)]
        assert all(lengths.count(n) == 3 for n in (1, 2, 3, 4))
        assert not torch.equal(a.at(3).input, b.at(3).input)


def test_a_batch_larger_than_the_set_is_the_set():
    data = Data(SUM, batch=100, samples=10, seed=0)
    assert data.epoch == 1
    assert len(data.at(0).input) == 10


def test_a_fixed_set_of_changing_layouts_is_refused_before_a_run_begins(tmp_path):
    task = make_task("addition", digits=2, format={"kind": "variable"})
    assert task.layouts > 1
    recipe = Recipe(
        name="changing", task=task, model=ResidualEncoder(), training=Training(samples=8, steps=1)
    )
    with pytest.raises(OrdinateError, match=r"leave training\.samples out"):
        train(recipe, store=str(tmp_path / "runs"))
    assert not list((tmp_path / "runs").glob("**/seed-*"))
