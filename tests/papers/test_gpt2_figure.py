"""Weights of GPT-2 that are at hand, and the column of a figure that they give."""

import json
import pickle

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.papers import FIGURES
from ordinate.papers.positional import fine_tuning, gpt2
from ordinate.papers.positional.fine_tuning import LanguageModel
from ordinate.papers.positional.gpt2 import VARIABLE, FineTuning, NotAtHandError, find_weights, fingerprint
from tests.app.cli.conftest import Answer

FIGURE = FIGURES["positional/mixed-type"]


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """An empty cache of the hub, and no folder that is named."""
    import huggingface_hub.constants

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def cache(hub, folder, repository):
    """Put a model where the hub's cache would have it."""
    home = hub / f"models--{repository.replace('/', '--')}"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text("abc")
    (home / "snapshots").mkdir()
    (home / "snapshots" / "abc").symlink_to(folder)
    return home / "snapshots" / "abc"


@pytest.mark.parametrize("repository", gpt2.REPOSITORIES)
def test_the_published_weights_are_taken_from_the_cache_where_there_is_a_gpu(
    hub, folder, monkeypatch, repository
):
    with pytest.raises(NotAtHandError, match="weights of gpt2-large are not on this machine"):
        find_weights(by_name=False)
    there = cache(hub, folder, repository)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(NotAtHandError, match="needs a GPU"):
        find_weights(by_name=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_weights(by_name=False) == there
    with pytest.raises(NotAtHandError, match=f"only where {VARIABLE} names"):
        find_weights(by_name=True)


def test_without_the_package_the_column_is_left_out_unless_it_is_named(hub, folder, monkeypatch):
    monkeypatch.setattr(gpt2, "find_spec", lambda name: None)
    with pytest.raises(NotAtHandError, match=r"pip install 'ordinate\[hf\]'"):
        find_weights(by_name=False)
    monkeypatch.setenv(VARIABLE, str(folder))
    with pytest.raises(OrdinateError, match=r"pip install 'ordinate\[hf\]'") as error:
        find_weights(by_name=False)
    assert not isinstance(error.value, NotAtHandError)


def test_fingerprints_tell_weights_apart_and_not_folders(folder, tmp_path):
    for name in ("same", "other"):
        (tmp_path / name).mkdir()
        for path in folder.iterdir():
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "other" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert fingerprint(tmp_path / "same") == fingerprint(folder) != fingerprint(tmp_path / "other")


def broken(folder, tmp_path, name):
    """Folders that hold no GPT-2, each with what is said of it."""
    if name == "missing":
        return tmp_path / "nowhere"
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    if name == "pickled":
        (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    if name == "bert":
        config = json.loads((tmp_path / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "bert"}))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("missing", "must name a folder with config.json and *.safetensors"),
        ("pickled", "must name a folder with config.json and *.safetensors"),
        ("bert", "holds a model of type 'bert'"),
    ],
)
def test_a_named_folder_without_a_gpt2_is_refused(folder, tmp_path, monkeypatch, capsys, name, line):
    from ordinate.app.cli.main import main

    monkeypatch.setenv(VARIABLE, str(broken(folder, tmp_path, name)))
    command = ["reproduce", "positional/mixed-type", "--scale", "smoke", "--out", str(tmp_path / "out")]
    code = main(command)
    said = capsys.readouterr()
    answer = Answer(code, said.out, said.err)
    assert answer.code == 2
    assert line in answer.error


def test_weights_that_cannot_be_loaded_are_said_in_one_line(folder, tmp_path):
    broken(folder, tmp_path, "whole")
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(OrdinateError, match="holds no GPT-2 that transformers can load") as error:
        LanguageModel(tmp_path, torch.device("cpu"))
    assert "\n" not in str(error.value)


def test_jobs_can_be_sent_to_workers_and_seeds_are_those_of_the_others(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(folder))
    plan = FIGURE.plan("laptop")
    assert len(plan.recipes) == 9
    assert set(plan.calls) == {"mixed-min-gpt2", "mixed-sum-gpt2", "mixed-both-gpt2"}
    jobs = [job for job in FIGURE.study("smoke", tmp_path).jobs() if "gpt2" in job.name]
    assert [job.name for job in jobs] == ["mixed-min-gpt2 seed 0"]
    call, given = pickle.loads(pickle.dumps((jobs[0].call, jobs[0].kwargs)))
    assert (call.func, call.keywords) == (fine_tuning.fine_tune_job, {"folder": str(folder.resolve())})
    assert FineTuning.parse(given["recipe"]).training.steps == 4
