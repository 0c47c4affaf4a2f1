"""What a killed writer left half-written goes when the run is trained next; what somebody still writes stays."""

import os
import subprocess
import sys

import pytest

from ordinate.lab.runs import Store
from ordinate.lab.runs.archive import pack, unpack
from ordinate.lab.runs.files import unfinished_file, unfinished_folder

RECIPE = {"name": "sum", "task": {"name": "sum"}}
PLACES = ("run.json", "results/evaluation.json", "arrays/errors.safetensors")
PLACES += ("resume/step-00000010.safetensors", "checkpoints/step-00000010.safetensors")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "runs")


@pytest.fixture
def run(store):
    return store.open(RECIPE, 0)


@pytest.fixture(scope="module")
def dead():
    """The number of a process that is gone."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        return process.pid if process.wait() == 0 else None


def places(run):
    return [*(run.path / place for place in PLACES), run.path.parent.parent / "initial" / "w.safetensors"]


def half_written(path, process):
    name = unfinished_file(path).name.replace(f".{os.getpid()}-", f".{process}-")
    path.parent.mkdir(exist_ok=True)
    path.with_name(name).write_bytes(b"half")
    return path.with_name(name)


def half_unpacked(root, process):
    name = unfinished_folder(root).name.replace(f"-{os.getpid()}-", f"-{process}-")
    (root / name / "sum").mkdir(parents=True)
    (root / name / "sum" / "run.json").write_text("{}")
    return root / name


def test_training_a_run_clears_what_dead_writers_left(run, store, dead):
    left = [half_written(path, dead) for path in places(run)]
    left.append(run.path / f".run.json.{dead}-9f2b1c4d.tmp")  # of an older version
    left[-1].write_text("{")
    left.append(half_unpacked(store.root, dead))
    with run.lock():
        assert [path for path in left if path.exists()] == []


def test_what_a_living_process_writes_stays(run, store):
    living = [half_written(path, os.getpid()) for path in places(run)]
    living.append(half_unpacked(store.root, os.getppid()))
    with run.lock():
        assert all(path.exists() for path in living)


def test_what_a_process_of_another_machine_writes_stays(run, store, dead, monkeypatch):
    monkeypatch.setattr("ordinate.lab.runs.files._MACHINE", "0" * 8)
    elsewhere = [half_written(path, dead) for path in places(run)] + [half_unpacked(store.root, dead)]
    monkeypatch.undo()
    with run.lock():
        assert all(path.exists() for path in elsewhere)


def test_files_of_other_names_stay(run, dead):
    others = [run.path / name for name in (".notes.tmp", f"run.json.{dead}-9f2b.tmp", f".unpacked-{dead}-9f")]
    for path in others:
        path.write_text("mine")
    with run.lock():
        assert all(path.exists() for path in others)


def test_unpacking_clears_what_an_unpacking_that_was_killed_left(run, store, tmp_path, dead):
    run.update(status="done", step=1)
    pack(store, tmp_path / "a.zip", [run.id])
    other = Store(tmp_path / "other")
    left, living = half_unpacked(other.root, dead), half_unpacked(other.root, os.getpid())
    unpack(tmp_path / "a.zip", other)
    assert (left.exists(), living.exists()) == (False, True)
