"""`ordinate verify FILE`: a card for what is a model, one line for what is none."""

import hashlib
import pickle
import shutil

import pytest
import torch
from safetensors.torch import save_file

from ordinate.lab.runs import read_json, read_tensors, write_json, write_tensors
from ordinate.lab.runs.plain import to_json
from ordinate.lab.zoo import suite, verify
from ordinate.lab.zoo.cards import FOLDER

ADDER, RELATION, SORT = (FOLDER / name for name in ("compiled-adder", "addition-relation", "sort-positional"))


@pytest.fixture
def few(monkeypatch):
    """Fewer samples, where a score is not what a test is about."""
    monkeypatch.setattr(suite, "COUNT", 5)


@pytest.fixture
def run(store):
    return next(store.glob("tiny-*/seed-0"))


def test_a_model_of_the_package_has_a_card(call):
    answer = call("verify", "addition-relation", "--json")
    assert answer.code == 0, answer.err
    card, file = answer.json, RELATION / "model.safetensors"
    assert card["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (card["bytes"], card["parameters"]) == (file.stat().st_size, 125963)
    assert (card["kind"], card["task"], card["card"]) == ("trained", "addition", "addition-relation")
    assert (card["holds"], card["apart"], card["metric"]) == (True, [], "exact match")
    points = card["suite"]["points"]
    assert [point["value"] for point in points] == [5, 10, 20, 50]
    assert [point["in_distribution"] for point in points] == [True, False, False, False]
    assert min(point["accuracy"] for point in points) > 0.98


def test_a_compiled_model_has_its_proofs(call):
    card = call("verify", ADDER, "--json").json
    assert (card["kind"], card["program"], card["holds"]) == ("compiled", "addition", True)
    assert (card["weights_as_compiled"], card["worst"], card["error_bound"]) == (True, 0, 0)
    assert card["suite"]["points"][0]["accuracy"] == 1
    assert "refused" in card["suite"]["points"][1]
    text = call("verify", "compiled-adder").out
    for words in (card["sha256"], "proven error bound 0", "weights are those of the compiler", "refused"):
        assert words in text


def test_a_run_is_its_last_checkpoint_and_one_along_training_is_a_file(call, few, run):
    card = call("verify", run, "--json").json
    assert (card["step"], card["recipe"], card["card"], card["sealed"]) == (20, "tiny", None, True)
    assert card["file"].endswith("step-00000020.safetensors")
    text = call("verify", run).out
    assert "no card beside the file; as it was written, by its seal" in text
    along = call("verify", SORT / "step-00000500.safetensors", "--json")
    assert along.code == 0, along.err
    assert (along.json["step"], along.json["card"], along.json["apart"]) == (500, "sort-positional", [])


@pytest.mark.parametrize("place", [9, 300, -1, -5000])
@pytest.mark.parametrize("beside", [True, False], ids=["card", "seal"])
def test_a_changed_byte_is_refused(call, tmp_path, place, beside):
    folder = tmp_path / "model"
    shutil.copytree(SORT, folder)
    file = folder / "model.safetensors"
    if not beside:
        (folder / "card.json").unlink()
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(bytes(data))
    answer = call("verify", file)
    assert (answer.code, answer.out) == (2, "")
    assert ("is not the file of its card" if beside else "is not a readable checkpoint") in answer.error


def pickled(path):
    path.write_bytes(pickle.dumps({"weight": [1.0]}))


def saved_by_torch(path):
    torch.save({"weight": torch.ones(2)}, path)


def of_others(path):
    save_file({"weight": torch.ones(2)}, path)


def text(path):
    path.write_text("addition")


def huge(path):
    with path.open("wb") as file:
        file.truncate(verify.LARGEST + 1)


def of_no_model(path):
    write_tensors(path, {"weight": torch.ones(2)}, {"step": 1})


def of_another_size(path):
    tensors, meta = read_tensors(RELATION / "model.safetensors")
    meta["recipe"]["model"] |= {"layers": 200, "width": 16384, "hidden": 65536}
    write_tensors(path, tensors, meta)


def of_other_shapes(path):
    tensors, meta = read_tensors(RELATION / "model.safetensors")
    meta["recipe"]["model"]["layers"] = 3
    write_tensors(path, tensors, meta)


def of_no_program(path):
    tensors, meta = read_tensors(ADDER / "model.safetensors")
    write_tensors(path, tensors, meta | {"program": ["addition"], "inputs": 3})


FOREIGN = {
    pickled: "is a pickle, which can run anything when it is opened: write safetensors",
    saved_by_torch: "is a pickle",
    of_others: "it holds tensors but was not written by ordinate",
    text: "is not a readable checkpoint",
    huge: "a model file has at most 1073741824",
    of_no_model: "holds no model: write a checkpoint of a run",
    of_another_size: "it is not that model",
    of_other_shapes: "does not hold a model of this library",
    of_no_program: "is no compiled program",
}


@pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
@pytest.mark.parametrize("json", [False, True], ids=["text", "json"])
def test_what_is_no_model_is_refused_in_one_line(call, tmp_path, make, json):
    path = tmp_path / "x.safetensors"
    make(path)
    answer = call("verify", path, *(["--json"] if json else []))
    assert (answer.code, answer.out) == (2, "")
    assert FOREIGN[make] in answer.error


def test_other_scores_than_the_card_s_fail(call, few, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(ADDER, folder)
    card = read_json(folder / "card.json")
    card["suite"][0]["accuracy"] = 0.5
    write_json(folder / "card.json", card)
    answer = call("verify", folder)
    assert answer.code == 1
    assert "scores are not those of the card at length=64 accuracy" in answer.out


def test_weights_that_the_compiler_did_not_write_fail(call, few, tmp_path):
    tensors, meta = read_tensors(ADDER / "model.safetensors")
    name = next(name for name, tensor in tensors.items() if tensor.is_floating_point() and tensor.numel())
    tensors[name] = tensors[name] + 1
    write_tensors(tmp_path / "model.safetensors", tensors, meta)
    answer = call("verify", tmp_path)
    assert answer.code == 1
    assert "weights are NOT those of the compiler" in answer.out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("nowhere/model.safetensors",), "there is no file 'nowhere/model.safetensors'"),
        (("addition-realtion",), "did you mean 'addition-relation'?"),
        (("addition-relation", "--n", 4), "leave out all options but --json"),
        ((".",), "holds no model: write the folder of a run"),
    ],
)
def test_other_slips(call, tmp_path, monkeypatch, words, line):
    monkeypatch.chdir(tmp_path)
    answer = call("verify", *words)
    assert (answer.code, answer.out) == (2, "")
    assert line in answer.error


def test_a_file_of_before_seals_is_read_and_says_so(call, few, tmp_path):
    tensors, meta = read_tensors(RELATION / "model.safetensors")
    save_file(tensors, tmp_path / "old.safetensors", metadata={"ordinate": to_json(meta)})
    card = call("verify", tmp_path / "old.safetensors", "--json").json
    assert (card["sealed"], card["card"]) == (False, None)
