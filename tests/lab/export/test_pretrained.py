"""Models through AutoConfig and AutoModel: saved, opened again, equal in every output; what cannot be opened."""

import json

import pytest
import torch
from transformers import AutoConfig, AutoModel

from ordinate.encodings import ENCODINGS
from ordinate.errors import OrdinateError
from ordinate.lab.export import OrdinateConfig, OrdinateModel
from ordinate.lab.export.pretrained import coordinates_of
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe, load_model, train

SMALL = {"layers": 1, "width": 16, "hidden": 16}
MODELS = {
    "positional": ("sum", SMALL),
    "standard": ("sort", SMALL),
    "hybrid": ("min", SMALL),
    "encoder": ("addition", SMALL | {"heads": 2, "encoding": "alibi"}),
    "decoder": ("k-hop", {"layers": 1, "width": 16, "heads": 2}),
    "positional-decoder": ("k-hop", {"layers": 1, "width": 16, "heads": 2}),
    "memory": ("fixed-memory", {"layers": 1, "heads": 2, "width": 8}),
}


def config(kind="encoder", **changes):
    task, options = MODELS[kind]
    document = {"name": "tiny", "task": {"name": task}, "model": {"kind": kind, **options, **changes}}
    return OrdinateConfig(Recipe.parse(document).to_dict())


def assert_same_after_saving(model, folder):
    model.eval().save_pretrained(folder)
    again = AutoModel.from_pretrained(folder)
    assert isinstance(again, OrdinateModel)
    batch = model.task.sample(3, generator=torch.Generator().manual_seed(0))
    before = model(batch.input, batch.coordinates, labels=batch.target)
    after = again(batch.input, batch.coordinates, labels=batch.target)
    assert torch.equal(before.logits, after.logits)
    assert torch.equal(before.loss, after.loss)


@pytest.mark.parametrize("kind", MODELS)
def test_every_kind_of_model_is_the_same_after_saving(kind, tmp_path):
    model = OrdinateModel(config(kind))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.1)  # weights that no seed gives
    assert_same_after_saving(model, tmp_path)
    assert AutoConfig.from_pretrained(tmp_path).recipe == model.config.recipe
    assert {path.name for path in tmp_path.iterdir()} == {"config.json", "model.safetensors", "README.md"}


CHOSEN = {
    "upe": {"kind": "upe", "fields": ["first"]},
    "pairwise": {"kind": "pairwise", "relation": {"kind": "window", "back": 2}},
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_tables_that_are_computed_are_there_again(name, tmp_path):
    assert_same_after_saving(OrdinateModel(config(encoding=CHOSEN.get(name, name))), tmp_path)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    recipe = Recipe.parse(
        config().recipe
        | {
            "training": {"steps": 3, "batch": 8, "average": 0.5},
            "evaluation": {"count": 8, "axes": {"length": [7]}},
        }
    )
    return train(recipe, [0], store=str(tmp_path_factory.mktemp("runs")))[0]


def test_a_run_becomes_a_folder_with_a_card(run, tmp_path):
    model = OrdinateModel.of(run)
    assert_same_after_saving(model, tmp_path)
    batch = model.task.sample(2, generator=torch.Generator().manual_seed(1))
    expected = load_model(run)(batch.input, batch.coordinates)
    assert torch.equal(AutoModel.from_pretrained(tmp_path)(batch.input).logits, expected)
    card = (tmp_path / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: ordinate\nlicense: apache-2.0\n")
    for said in ("seed 0, one seed, no verdict", "averaged weights", "| length=7 |", "24 samples seen"):
        assert said in card
    assert json.loads(card.split("```json\n")[1].split("```")[0]) == Recipe.parse(run.recipe).to_dict()


def test_answers_are_written_as_a_person_reads_them(run):
    row = OrdinateModel.of(run).answer("123+4095")
    assert set(row) == set(OrdinateModel.of(run).task.show(OrdinateModel.of(run).task.parse("123+4095"))[0])


def test_it_trains(tmp_path):
    model = OrdinateModel(config())
    batch = model.task.sample(16, generator=torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        found = model(batch.input, batch.coordinates, labels=batch.target).loss
        found.backward()
        optimizer.step()
        losses.append(float(found.detach()))
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("name", ["sum", "addition", "k-hop", "several"])
def test_coordinates_follow_from_the_number_of_tokens(name):
    task = make_task(name)
    for length in (2, 7, 30):
        coordinates = task.coordinates(length)
        assert coordinates_of(task, len(coordinates)) == coordinates


def test_numbers_of_tokens_that_no_input_has_are_refused():
    task = make_task("addition")
    between = len(task.coordinates(5)) + 1
    with pytest.raises(OrdinateError, match=f"no input of task 'addition' has {between} tokens"):
        coordinates_of(task, between)


def test_other_precisions(tmp_path):
    model = OrdinateModel(config()).double()
    assert_same_after_saving(model, tmp_path)
    assert AutoModel.from_pretrained(tmp_path).dtype == torch.float64
    assert AutoModel.from_pretrained(tmp_path, dtype=torch.float32).dtype == torch.float32


def test_files_that_do_not_fit_are_refused(tmp_path):
    OrdinateModel(config()).save_pretrained(tmp_path)
    weights = tmp_path / "model.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[: len(data) // 2])
    with pytest.raises(OrdinateError, match="does not hold the model of its recipe"):
        AutoModel.from_pretrained(tmp_path)
    weights.unlink()
    with pytest.raises(OrdinateError, match=r"holds no model\.safetensors"):
        AutoModel.from_pretrained(tmp_path)
    OrdinateModel(config(width=32)).save_pretrained(tmp_path / "other")
    weights.write_bytes((tmp_path / "other" / "model.safetensors").read_bytes())
    with pytest.raises(OrdinateError, match="does not hold the model of its recipe"):
        AutoModel.from_pretrained(tmp_path)
