"""Training from weights that are there already."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.architectures import Positional
from ordinate.lab.runs import Store
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Evaluation, Recipe, Training, load_model, starting_from, train
from ordinate.lab.training.weights import add_noise, weights_file
from ordinate.models import build_model

RECIPE = Recipe(
    name="first",
    task=make_task("sum", length=4),
    model=Positional(width=8, hidden=8, layers=1),
    training=Training(steps=3, batch=8),
    evaluation=Evaluation(count=8),
)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


def restarted(store, *, rate=0.0, noise=0.0):
    """A recipe that starts from the weights of a run of RECIPE, and the run."""
    (run,) = train(RECIPE, [0], store=store)
    optimizer = RECIPE.training.optimizer.model_copy(update={"learning_rate": rate})
    training = RECIPE.training.model_copy(update={"optimizer": optimizer})
    other = RECIPE.model_copy(update={"training": training, "name": "second"})
    return starting_from(other, run.id, store, noise=noise), run


def test_a_training_begins_at_the_weights_of_another(store):
    recipe, run = restarted(store, rate=1e-30)
    before = load_model(run).state_dict()
    for again in train(recipe, [0, 1], store=store):
        after = load_model(again).state_dict()
        assert all(torch.allclose(after[name], before[name]) for name in before)


def test_noise_depends_on_the_seed_and_has_the_size_asked_for(store):
    recipe, run = restarted(store, rate=1e-30, noise=0.1)
    before = load_model(run).state_dict()["layers.0.up.weight"]
    moved = [
        load_model(again).state_dict()["layers.0.up.weight"] - before
        for again in train(recipe, [0, 1], store=store)
    ]
    for one in moved:
        assert 0.07 < float(one.square().mean().sqrt() / before.square().mean().sqrt()) < 0.13
    assert not torch.allclose(*moved)


def test_equal_weights_are_kept_once_and_outlive_their_source(store, tmp_path):
    recipe, run = restarted(store, rate=1e-3)
    again, _ = restarted(store, rate=1e-3)
    assert recipe == again
    key = recipe.training.initial.weights
    assert [path.name for path in (store.root / "initial").iterdir()] == [f"{key}.safetensors"]
    for file in (run.path / "checkpoints").iterdir():
        file.unlink()
    assert train(recipe, [0], store=store)[0].status == "done"
    with pytest.raises(OrdinateError, match=r"are not in .*elsewhere: add --init FOLDER"):
        train(recipe, [0], store=Store(tmp_path / "elsewhere"))
    assert not (tmp_path / "elsewhere").exists()


def test_other_shapes_are_refused_in_one_line_and_nothing_is_kept(store):
    (run,) = train(RECIPE, [0], store=store)
    wider = RECIPE.model_copy(update={"model": Positional(width=16, hidden=8, layers=1)})
    with pytest.raises(
        OrdinateError, match=r"\[8, 1\] there, \[16, 1\] here.*--set model.width=8"
    ) as refused:
        starting_from(wider, run.id, store)
    assert "\n" not in str(refused.value)
    assert not (store.root / "initial").exists()


def test_a_run_from_kept_weights_goes_on_where_it_was_stopped(store, tmp_path, monkeypatch):
    from ordinate.lab.training.loop import _Training

    recipe, _ = restarted(store, rate=1e-2, noise=0.3)
    recipe = recipe.model_copy(
        update={"training": recipe.training.model_copy(update={"steps": 6, "save_seconds": 0.0})}
    )
    advance = _Training._advance

    def stop(self):
        if self.step == 4:
            raise KeyboardInterrupt
        return advance(self)

    monkeypatch.setattr(_Training, "_advance", stop)
    with pytest.raises(KeyboardInterrupt):
        train(recipe, [0], store=store)
    monkeypatch.setattr(_Training, "_advance", advance)
    (stopped,) = train(recipe, [0], store=store, resume=True)
    other = Store(tmp_path / "other")
    key = recipe.training.initial.weights
    weights_file(other, key).parent.mkdir(parents=True)
    weights_file(other, key).write_bytes(weights_file(store, key).read_bytes())
    (whole,) = train(recipe, [0], store=other)
    one, two = load_model(stopped).state_dict(), load_model(whole).state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_noise_leaves_units_without_weights_alone():
    model = build_model(RECIPE.model, RECIPE.task, seed=0)
    with torch.no_grad():
        model.decode.weight.zero_()
        model.decode.bias.fill_(2.0)
    add_noise(model, 1.0, torch.Generator().manual_seed(0))
    assert not model.decode.weight.any()
    assert model.decode.bias.tolist() == [2.0]
