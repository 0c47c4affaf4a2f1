"""Every recipe trains on a pretended device as on the CPU: the whole way, from first weights to scores."""

import contextlib
from pathlib import Path

import pytest
import torch
import torch.optim.optimizer as optimizer_module

from ordinate.lab.seeds import derive
from ordinate.lab.training import Recipe, load_model, loop, train
from ordinate.models import build_model
from tests.devices import AWAY

ROOT = Path(__file__).parents[3]
RECIPES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "recipes").rglob("*.toml"))
SMALL = {"width": 48, "hidden": 64, "layers": 2}


@pytest.fixture
def pretended(monkeypatch):
    """Devices by name, `away` among them, with what torch asks of a device that it does not know."""
    known, autocast = optimizer_module._get_fused_kernels_supported_devices, torch.autocast
    monkeypatch.setattr(optimizer_module, "_get_fused_kernels_supported_devices", lambda: [*known(), "meta"])
    monkeypatch.setattr(
        torch,
        "autocast",
        lambda device, **k: contextlib.nullcontext() if device == "meta" else autocast(device, **k),
    )

    def run(recipe, store, name, **options):
        monkeypatch.setattr(
            loop, "resolve_device", lambda _: torch.device("meta" if name == "away" else name)
        )
        with AWAY if name == "away" else contextlib.nullcontext():
            return train(recipe, [0], store=str(store), **options)[0]

    return run


def small(path, **training):
    """The recipe with a small model, a few samples and a step."""
    document = Recipe.read(ROOT / path).to_dict()
    sizes = document["model"]
    sizes |= {key: min(most, sizes[key]) for key, most in SMALL.items() if sizes.get(key)}
    document["training"].pop("pick", None)
    document["training"] |= {"steps": 1, "batch": 4, "precision": "float32", "log_every": 1, **training}
    document["evaluation"] = {"count": 4}
    return Recipe.parse(document)


def share_apart(one, other):
    """The share of numbers that are not alike."""
    apart = sum(int(((one[name] - other[name]).abs() > 1e-6).sum()) for name in one)
    return apart / sum(tensor.numel() for tensor in one.values())


@pytest.mark.parametrize("path", RECIPES)
def test_a_recipe_trains_on_another_device(pretended, tmp_path, path):
    recipe = small(path)
    here, there = (pretended(recipe, tmp_path / name, name) for name in ("cpu", "away"))
    first = build_model(recipe.model, recipe.task, seed=derive(0, "weights")).state_dict()
    weights, others = here.load_checkpoint()[0], there.load_checkpoint()[0]
    assert there.status == "done"
    assert weights.keys() == others.keys()
    losses = [next(row["loss"] for row in run.metrics() if "loss" in row) for run in (here, there)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    # A step of Adam moves every number by about the rate, one whose gradient is 0 but for rounding to either side.
    assert share_apart(weights, others) < 0.01
    assert share_apart(weights, first) > 0.2


@pytest.mark.filterwarnings("ignore:for .* which is a no-op")  # what torch says of its own "meta" alone
@pytest.mark.parametrize("first", ["cpu", "away"])
def test_a_state_of_one_device_goes_on_on_another(pretended, tmp_path, first):
    recipe = small("recipes/addition-1000.toml", steps=4, save_seconds=0)
    whole = pretended(recipe, tmp_path / "whole", "cpu")

    class Stop(Exception):
        pass

    def stop(**facts):
        if facts.get("step") == 2:
            raise Stop

    with pytest.raises(Stop):
        pretended(recipe, tmp_path / "parts", first, report=stop)
    done = pretended(recipe, tmp_path / "parts", "away" if first == "cpu" else "cpu", resume=True)
    assert done.status == "done"
    for name, tensor in done.load_checkpoint()[0].items():
        torch.testing.assert_close(tensor, whole.load_checkpoint()[0][name], atol=1e-4, rtol=1e-4)


def test_a_model_that_was_trained_there_is_opened_here(pretended, tmp_path):
    recipe = small("recipes/addition-1000.toml")
    run = pretended(recipe, tmp_path, "away")
    batch = recipe.task.sample(2, generator=torch.Generator().manual_seed(0), length=5)
    with torch.no_grad():
        assert load_model(run)(batch.input, batch.coordinates).device.type == "cpu"
