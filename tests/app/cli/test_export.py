"""A run as a folder that transformers opens: what is written, what is said, what is refused."""

import importlib.util

import pytest
import torch
from transformers import AutoModel

from ordinate.lab.export import OrdinateModel
from ordinate.lab.runs import Store


@pytest.fixture
def run(store):
    return Store(store).find(Store(store).runs()[0].id)


def test_the_model_of_a_run_is_opened_by_transformers(call, store, run, tmp_path):
    out = tmp_path / "models" / "summer"
    answer = call("export", run.id, "--store", store, "--out", out, "--json")
    assert answer.code == 0, answer.err
    names = ["README.md", "config.json", "model.safetensors"]
    assert answer.json["files"] == [str(out / name) for name in names]
    assert (answer.json["run"], answer.json["path"]) == (run.id, str(out))
    assert [path.name for path in out.parent.iterdir()] == ["summer"]
    inputs = torch.rand(3, 4, 1)
    opened = AutoModel.from_pretrained(out)
    assert answer.json["parameters"] == sum(parameter.numel() for parameter in opened.parameters())
    assert torch.equal(opened(inputs).logits, OrdinateModel.of(run)(inputs).logits)


def test_a_person_reads_how_to_open_it(call, run, tmp_path):
    answer = call("export", run.path, "--out", tmp_path / "summer")
    assert answer.code == 0, answer.err
    assert f'AutoModel.from_pretrained("{tmp_path / "summer"}")' in answer.out


def test_nothing_is_written_over(call, run, tmp_path):
    (tmp_path / "kept").mkdir()
    answer = call("export", run.path, "--out", tmp_path / "kept")
    assert (answer.code, list((tmp_path / "kept").iterdir())) == (2, [])
    assert answer.error == f"error: {tmp_path / 'kept'} is there already: choose another --out"


def test_nothing_is_left_of_what_failed(call, run, tmp_path, monkeypatch):
    def fail(model, folder):
        folder.mkdir()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(OrdinateModel, "save_pretrained", fail)
    answer = call("export", run.path, "--out", tmp_path / "summer")
    assert answer.code == 2
    assert "no space left" in answer.error
    assert list(tmp_path.iterdir()) == []


def test_runs_and_steps_that_are_not_there(call, store, run, tmp_path):
    answer = call("export", "nothing", "--store", store, "--out", tmp_path / "a")
    assert (answer.code, "nothing" in answer.error) == (2, True)
    answer = call("export", run.path, "--step", 7, "--out", tmp_path / "a")
    assert (answer.code, "7" in answer.error) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_without_the_package(call, run, tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "ordinate.app.cli.export.find_spec", lambda name: None if name == "transformers" else find(name)
    )
    answer = call("export", run.path, "--out", tmp_path / "a")
    assert answer.code == 2
    assert answer.error == "error: export needs one more package: write pip install 'ordinate[hf]'"
