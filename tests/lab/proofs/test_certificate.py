"""Certificates of runs: they hold, and do not once a number of theirs, or of the weights, is another one."""

import copy
import hashlib
import json
import shutil
from itertools import product

import pytest
import torch

from ordinate.coordinates import layout
from ordinate.errors import OrdinateError
from ordinate.lab.proofs import check_certificate, prove
from ordinate.lab.runs import read_json, read_tensors, write_json, write_tensors
from ordinate.lab.training import Recipe, load_model, train
from tests.lab.proofs.built import parity, parity_machine


def run_of(folder, model="scan", **task):
    """A run of few steps."""
    sizes = {"width": 1, "hidden": 2} if model == "scan" else {"encoding": "alibi", "layers": 1}
    document = {
        "name": "tiny",
        "task": task or {"name": "machine", "of": "parity", "length": 4},
        "model": {"kind": model, **sizes},
        "training": {"steps": 1, "batch": 2},
        "evaluation": {"count": 2},
    }
    return train(Recipe.parse(document), [0], store=str(folder))[0]


def checkpoint(run):
    return run.path / "checkpoints" / "step-00000001.safetensors"


@pytest.fixture(scope="module")
def proven(tmp_path_factory):
    """A run whose weights are those of parity, with its certificate."""
    run = run_of(tmp_path_factory.mktemp("proven"))
    _, meta = read_tensors(checkpoint(run))
    write_tensors(checkpoint(run), parity().state_dict(), meta)
    assert prove(run).certificate == run.path / "proof.json"
    return run


@pytest.fixture
def moved(proven, tmp_path):
    """A copy to spoil, in another folder: a certificate finds its weights beside it."""
    return shutil.copytree(proven.path, tmp_path / "moved")


def test_it_holds_wherever_the_run_is_moved(moved):
    checked = check_certificate(moved / "proof.json")
    assert (checked["holds"], checked["broken"], checked["states"]) == (True, None, 2)
    assert checked["distance"] > checked["error"]


def test_it_may_be_written_elsewhere(proven, tmp_path):
    prove(proven, out=tmp_path / "elsewhere" / "proof.json")
    assert check_certificate(tmp_path / "elsewhere" / "proof.json")["holds"]


def test_the_checker_never_searches(moved, monkeypatch):
    monkeypatch.setattr("ordinate.lab.proofs.search.Search.__init__", None)
    assert check_certificate(moved / "proof.json")["holds"]


def _numbers(value, path=()):
    """Every whole number of a document, by where it stands."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _numbers(inner, (*path, key))
    elif isinstance(value, int):
        yield path


def test_every_number_of_it_matters(moved):
    held, file = read_json(moved / "proof.json"), moved / "spoilt.json"
    for path in _numbers(held):
        for change in (1, -1):
            spoilt = copy.deepcopy(held)
            inner = spoilt
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] += change
            write_json(file, spoilt)
            if path == ("version",):
                with pytest.raises(OrdinateError):
                    check_certificate(file)
            else:
                assert not check_certificate(file)["holds"], (path, change)


def test_every_pair_and_every_row_of_it_matters(moved):
    held, file = read_json(moved / "proof.json"), moved / "spoilt.json"
    lists = [("step",), ("functions",), ("letters",), ("states",), ("levels",)]
    lists += [("levels", n, name) for n in range(len(held["levels"])) for name in ("windows", "prefixes")]
    for path in lists:
        whole = held
        for key in path:
            whole = whole[key]
        for place in range(len(whole)):
            spoilt = copy.deepcopy(held)
            inner = spoilt
            for key in path:
                inner = inner[key]
            del inner[place]
            write_json(file, spoilt)
            if path == ("levels",):  # the first may be left out where the others hold all of it
                continue
            assert not check_certificate(file)["holds"], (path, place)


@pytest.mark.parametrize("key", ["distance", "error", "claim", "assumed"])
def test_what_is_said_beside_it_must_be_true(moved, key):
    held = read_json(moved / "proof.json")
    held[key] = {"distance": 5.0, "error": 0.0, "claim": "all is well", "assumed": []}[key]
    write_json(moved / "proof.json", held)
    assert not check_certificate(moved / "proof.json")["holds"]


def test_signs_of_a_state_matter(moved):
    held = read_json(moved / "proof.json")
    for place, signs in enumerate(held["states"]):
        for other in ("-" if signs == "+" else "+", "0", signs + "+"):
            states = [other if n == place else kept for n, kept in enumerate(held["states"])]
            write_json(moved / "spoilt.json", {**held, "states": states})
            assert not check_certificate(moved / "spoilt.json")["holds"]


def test_other_weights_are_seen_by_their_hash_and_by_what_they_compute(moved):
    file = moved / "checkpoints" / "step-00000001.safetensors"
    tensors, meta = read_tensors(file)
    name = "layers.0.down.weight"
    write_tensors(file, {**tensors, name: -tensors[name]}, meta)
    assert "SHA-256" in check_certificate(moved / "proof.json")["broken"]
    held = read_json(moved / "proof.json")
    held["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    write_json(moved / "proof.json", held)
    assert "not what the weights make of them" in check_certificate(moved / "proof.json")["broken"]


def test_no_weight_can_be_changed_so_that_an_answer_is_wrong_and_the_proof_holds(proven, tmp_path):
    """Under the hash of the changed weights, so that only what they compute can tell."""
    tensors, meta = read_tensors(checkpoint(proven))
    held, file = read_json(proven.path / "proof.json"), tmp_path / "weights.safetensors"
    words = torch.tensor([(0, *rest) for rest in product((1, 2), repeat=5)])
    right, wrong = parity_machine().run(words), 0
    for name, tensor in tensors.items():
        for place in range(tensor.numel()):
            other = tensor.clone()
            other.view(-1)[place] += 30.0
            write_tensors(file, {**tensors, name: other}, meta)
            sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
            write_json(tmp_path / "proof.json", {**held, "weights": file.name, "sha256": sha256})
            if not torch.equal(load_model(file)(words, layout(token=6)).argmax(-1), right):
                wrong += 1
                assert not check_certificate(tmp_path / "proof.json")["holds"], (name, place)
    assert wrong > 20


def test_a_proof_of_another_task_does_not_hold(moved):
    file = moved / "checkpoints" / "step-00000001.safetensors"
    tensors, meta = read_tensors(file)
    meta["recipe"]["task"]["of"] = {"kind": "repeat-01"}
    write_tensors(file, tensors, meta)
    held = read_json(moved / "proof.json")
    held["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    write_json(moved / "proof.json", held)
    assert not check_certificate(moved / "proof.json")["holds"]


def test_what_is_no_certificate_is_refused_in_one_line(tmp_path, moved):
    held = read_json(moved / "proof.json")
    for text in ("[]", "{", json.dumps({**held, "extra": 1}), json.dumps({**held, "begin": "0"})):
        (tmp_path / "proof.json").write_text(text)
        with pytest.raises(OrdinateError) as error:
            check_certificate(tmp_path / "proof.json")
        assert "\n" not in str(error.value)
    write_json(tmp_path / "proof.json", held)
    with pytest.raises(OrdinateError, match="put them back"):
        check_certificate(tmp_path / "proof.json")


@pytest.mark.parametrize(
    ("model", "task", "words"),
    [
        ("encoder", {}, 'kind = "scan"'),
        ("scan", {"name": "sum", "length": 4}, "is not given as an exact machine"),
    ],
)
def test_runs_of_which_nothing_can_be_proven_are_refused(tmp_path, model, task, words):
    with pytest.raises(OrdinateError, match=words):
        prove(run_of(tmp_path, model, **task))


def test_a_wrong_run_leaves_no_certificate(tmp_path):
    run = run_of(tmp_path)
    assert prove(run).verdict == "counterexample"
    assert not (run.path / "proof.json").exists()
