"""`ordinate study`: one command from a file to tables; what it says, writes and refuses."""

import csv
import json
import sys

import pytest

from ordinate.lab.runs.engine import ENGINES
from tests.lab.studies.files import TINY, Here, write


@pytest.fixture
def here(monkeypatch):
    """Trainings of the local engine take place in this process; some of them may die."""
    engine = Here()
    monkeypatch.setitem(ENGINES, "local", type("Local", (Here,), {"open": classmethod(lambda *_: engine)}))
    return engine


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_study_from_a_file_to_tables(call, here, tmp_path):
    path = write(tmp_path, TINY)
    out = ("--out", tmp_path / "out")
    answer = call("study", path, *out)
    assert answer.code == 0, answer.err
    for words in ("tiny, equal samples: mean squared error", "scale=3", "error of a less by", "tables: "):
        assert words in answer.out
    assert "tiny 6/6 done: " in answer.err

    again = call("study", path, *out, "--json")
    assert "nothing was left to train" in again.err
    document = again.json
    assert (document["study"], document["seeds"], document["failed"]) == ("tiny", [0, 1, 2], [])
    assert document["budget"] == {"kind": "samples", "within": 0.0}
    assert document["recipes"][0]["spent"]["samples"] == 32
    assert [(p["recipe"], p["point"], p["seeds"]) for p in document["points"][:2]] == [
        ("a", "validation", 3),
        ("a", "scale=2", 3),
    ]
    (pair,) = document["comparisons"]
    assert (pair["a"], pair["b"], pair["point"], pair["better"]) == ("a", "b", "scale=3", None)
    assert json.loads((tmp_path / "out" / "study.json").read_text()) == document

    runs = rows(tmp_path / "out" / "runs.csv")
    assert len(runs) == 2 * 3 * 3
    assert {(row["recipe"], row["seed"], row["point"]) for row in runs} == {
        (name, str(seed), point) for name in "ab" for seed in range(3) for point in ("1.0", "2.0", "3.0")
    }
    summary = {(row["recipe"], row["point"]): row for row in rows(tmp_path / "out" / "summary.csv")}
    scores = sorted(float(row["score"]) for row in runs if (row["recipe"], row["point"]) == ("b", "3.0"))
    assert float(summary["b", "scale=3"]["median"]) == scores[1]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(tmp_path / "out" / "runs.parquet").num_rows == len(runs)


def test_failed_runs_are_listed_and_tried_again_when_asked(call, here, tmp_path):
    path = write(tmp_path, TINY.replace("seeds = 3", "seeds = [4, 7]").replace("[2, 3]", "[3]"))
    out = ("--out", tmp_path / "out")
    here.deaths = ["a seed 7"]
    answer = call("study", path, *out)
    assert answer.code == 0, answer.err
    assert "a seed 7 failed: worker died (signal 9) twice" in answer.out
    assert "2 seeds, no verdict" in answer.out
    document = call("study", path, *out, "--json").json
    assert document["failed"] == [{"recipe": "a", "seed": 7, "error": "worker died (signal 9) twice"}]
    assert {p["failed_seeds"] for p in document["points"] if p["recipe"] == "a"} == {"7"}
    failed = [row for row in rows(tmp_path / "out" / "runs.csv") if row["status"] == "failed"]
    assert [(row["recipe"], row["seed"], row["score"]) for row in failed] == [("a", "7", "")]
    assert call("study", path, *out, "--retry", "--json").json["failed"] == []


def test_when_every_run_failed_the_exit_code_is_1(call, here, tmp_path):
    text = TINY[: TINY.index("[[recipes]]")].replace("seeds = 3", "seeds = 1")
    here.deaths = ["tiny seed 0"]
    answer = call("study", write(tmp_path, text), "--out", tmp_path / "out", "--json")
    assert answer.code == 1
    assert answer.json["points"][0]["median"] is None
    assert answer.json["comparisons"] == []


def test_without_pyarrow_the_tables_are_csv(call, here, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    text = TINY[: TINY.index("[[recipes]]")].replace("seeds = 3", "seeds = 1")
    monkeypatch.chdir(tmp_path)
    answer = call("study", write(tmp_path, text), "--json")
    assert answer.code == 0
    assert "write pip install 'ordinate[tables]'" in answer.err
    assert sorted(path.suffix for path in (tmp_path / "studies" / "tiny").glob("runs.*")) == [".csv", ".tex"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--engine", "lokal"), "there is no engine 'lokal': did you mean 'local'?"),
        (("--address", "auto"), "the local engine has no address: write --engine ray"),
        (("--workers", "0"), "workers cannot be 0: write 1 or more"),
        (("--engine", "ray", "--workers", "0"), "workers cannot be 0: write 1 or more"),
    ],
)
def test_what_is_refused(call, tmp_path, words, line):
    answer = call("study", write(tmp_path, TINY), *words)
    assert answer.code == 2
    assert line in answer.error
    assert not (tmp_path / "studies").exists()


def test_without_ray_one_line_says_what_to_install(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    answer = call("study", write(tmp_path, TINY), "--engine", "ray")
    assert answer.code == 2
    assert "write pip install 'ordinate[ray]'" in answer.error
