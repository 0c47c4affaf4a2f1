"""`ordinate prove`, and `ordinate verify` of what it writes."""

import pytest

from ordinate.lab.runs import read_json, read_tensors, write_json, write_tensors
from ordinate.lab.training import Recipe, train
from tests.lab.proofs.built import parity


@pytest.fixture
def run(tmp_path):
    """A run of one step, which has learned nothing."""
    document = {
        "name": "tiny",
        "task": {"name": "machine", "of": "parity", "length": 4},
        "model": {"kind": "scan", "width": 1, "hidden": 2},
        "training": {"steps": 1, "batch": 2},
        "evaluation": {"count": 2},
    }
    return train(Recipe.parse(document), [0], store=str(tmp_path))[0]


@pytest.fixture
def right(run):
    """The same, with weights that compute parity."""
    file = run.path / "checkpoints" / "step-00000001.safetensors"
    _, meta = read_tensors(file)
    write_tensors(file, parity().state_dict(), meta)
    return run


def test_a_run_that_is_right_is_proven_and_its_certificate_checked(call, right):
    answer = call("prove", right.path, "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["verdict"], answer.json["states"]) == ("proven", 2)
    assert answer.json["counterexample"] is None
    assert "float32" in " ".join(answer.json["assumed"])
    checked = call("verify", answer.json["certificate"], "--json")
    assert (checked.code, checked.json["holds"], checked.json["kind"]) == (0, True, "proof")
    assert (
        "holds: every token of every word of every length" in call("verify", answer.json["certificate"]).out
    )


def test_a_certificate_that_was_changed_fails(call, right, tmp_path):
    assert call("prove", right.path, "--out", tmp_path / "p.json").code == 0
    held = read_json(tmp_path / "p.json")
    write_json(tmp_path / "p.json", {**held, "begin": 1 - held["begin"]})
    answer = call("verify", tmp_path / "p.json")
    assert answer.code == 1
    assert "does NOT hold" in answer.out


def test_a_run_that_is_wrong_shows_the_shortest_word(call, run):
    answer = call("prove", run.path, "--json")
    assert answer.code == 1
    assert answer.json["verdict"] == "counterexample"
    assert answer.json["counterexample"]["word"][0] == "^"
    assert answer.json["certificate"] is None
    text = call("prove", run.path).out
    assert "counterexample" in text
    assert "the answer to its last token is" in text


def test_models_of_other_kinds_are_refused_in_one_line(call, store):
    answer = call("prove", next(store.glob("tiny-*/seed-0")))
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "exact machine" in answer.err or 'kind = "scan"' in answer.err
