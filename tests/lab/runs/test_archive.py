"""Runs travel as one file: what was measured comes along, nothing foreign gets in, nothing that is there is lost."""

import zipfile

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.runs.archive import pack, unpack

RECIPE = {"name": "sum", "task": {"name": "sum"}, "training": {"batch": 256}}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "here")


@pytest.fixture
def other(tmp_path):
    return Store(tmp_path / "there")


def ended(store, seed=0, score=0.5):
    run = store.open(RECIPE, seed)
    run.append_metrics([{"step": 1, "loss": 2.0}])
    run.write_result("evaluation", [{"point": "length=5", "score": score}])
    run.save_arrays("errors", {"length=5": torch.tensor([0.0, 1.0])})
    run.save_checkpoint(10, {"weight": torch.ones(3)}, {"step": 10})
    run.update(status="done", step=10, scores={"validation": score})
    return run


def all_of(store):
    return [record.id for record in store.runs()]


def test_what_was_measured_comes_along_and_the_weights_stay(store, other, tmp_path):
    run = ended(store)
    assert pack(store, tmp_path / "a.zip", all_of(store)) == [run.id]
    assert unpack(tmp_path / "a.zip", other) == ([run.id], [])
    came = other.open(RECIPE, 0)
    assert came.record() == run.record()
    assert came.metrics() == run.metrics()
    assert came.read_result("evaluation") == run.read_result("evaluation")
    assert came.load_arrays("errors")["length=5"].tolist() == [0.0, 1.0]
    with pytest.raises(OrdinateError, match="packed without its weights"):
        came.load_checkpoint()
    assert [path.name for path in other.root.iterdir() if path.name.startswith(".")] == []


def test_whole_runs_bring_weights_and_states_and_go_on(store, other, tmp_path):
    ended(store)
    open_run = store.open(RECIPE, 1)
    open_run.save_state(7, {"weight": torch.zeros(2)}, {"step": 7})
    open_run.update(status="running", step=7)
    pack(store, tmp_path / "a.zip", all_of(store), whole=True)
    unpack(tmp_path / "a.zip", other)
    assert other.open(RECIPE, 0).load_checkpoint()[0]["weight"].tolist() == [1.0, 1.0, 1.0]
    assert other.open(RECIPE, 1).load_state(7)[1] == {"step": 7}


def test_equal_runs_give_equal_bytes_and_what_has_not_ended_stays(store, tmp_path):
    ended(store)
    store.open(RECIPE, 1).update(status="running")
    for name in ("a.zip", "b.zip"):
        assert len(pack(store, tmp_path / name, all_of(store))) == 1
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_store_where_nothing_has_ended_is_refused(store, tmp_path):
    store.open(RECIPE, 0)
    with pytest.raises(OrdinateError, match="has ended"):
        pack(store, tmp_path / "a.zip", all_of(store))
    assert list(tmp_path.glob("*.zip")) == []


def test_a_run_that_ended_here_stays_and_one_that_did_not_is_replaced(store, other, tmp_path):
    ended(store, 0), ended(store, 1), ended(store, 2)
    pack(store, tmp_path / "a.zip", all_of(store))
    ended(other, 0, score=0.9)
    other.open(RECIPE, 1).update(status="running", step=3)
    with other.open(RECIPE, 2).lock():
        added, kept = unpack(tmp_path / "a.zip", other)
    assert [id_[-1] for id_ in added] == ["1"]
    assert [id_[-1] for id_ in kept] == ["0", "2"]
    assert other.open(RECIPE, 0).record()["scores"] == {"validation": 0.9}
    assert other.open(RECIPE, 1).record()["scores"] == {"validation": 0.5}


@pytest.mark.parametrize(
    "name",
    [
        "../x-0123456789/seed-0/run.json",
        "/etc/passwd",
        "x-0123456789/seed-0/../../y",
        "x-0123456789/seed-0/model.pkl",
        "x-0123456789/seed-0/results/../run.json",
        "x-0123456789/seed-01/run.json",
        "x-0123456789/seed-0/lock",
        "x-0123456789/seed-0/",
        "x/seed-0/run.json",
        "x-0123456789\\seed-0\\run.json",
    ],
)
def test_foreign_files_are_refused_before_anything_is_written(other, tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as packed:
        packed.writestr(name, "{}")
    with pytest.raises(OrdinateError, match="nothing was unpacked"):
        unpack(tmp_path / "a.zip", other)
    assert not other.root.exists()


def test_a_recipe_that_was_changed_is_refused(store, other, tmp_path):
    run = ended(store)
    pack(store, tmp_path / "a.zip", [run.id])
    with zipfile.ZipFile(tmp_path / "a.zip") as packed, zipfile.ZipFile(tmp_path / "b.zip", "w") as changed:
        for name in packed.namelist():
            changed.writestr(name, packed.read(name).replace(b"256", b"512"))
    with pytest.raises(OrdinateError, match="does not hold the recipe it is named by"):
        unpack(tmp_path / "b.zip", other)
    assert other.runs() == []


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_file_of_runs_is_refused(other, tmp_path, content):
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(OrdinateError, match="--pack"):
        unpack(tmp_path / "a.zip", other)


def test_a_damaged_file_is_refused(store, other, tmp_path):
    run = ended(store)
    pack(store, tmp_path / "a.zip", [run.id])
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[60:90] = bytes(30)
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(OrdinateError, match=r"a\.zip"):
        unpack(tmp_path / "a.zip", other)
    assert other.runs() == []


def test_one_that_is_too_large_is_refused(store, other, tmp_path, monkeypatch):
    run = ended(store)
    pack(store, tmp_path / "a.zip", [run.id])
    monkeypatch.setattr("ordinate.lab.runs.archive.LARGEST", 10)
    with pytest.raises(OrdinateError, match="at most"):
        unpack(tmp_path / "a.zip", other)


def test_a_file_that_is_not_there_is_named(other, tmp_path):
    with pytest.raises(OrdinateError, match=r"none\.zip") as refused:
        unpack(tmp_path / "none.zip", other)
    assert str(refused.value).count("none.zip") == 1
