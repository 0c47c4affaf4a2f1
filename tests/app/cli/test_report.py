"""`ordinate report` on a study and on several figures, and the files it writes beside the page."""

import csv
import json
import shutil
import sys
from pathlib import Path

import pytest

from ordinate.lab.report.tables import VALUES, VERDICTS

RESULTS = Path(__file__).parents[3] / "results"


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """Two stored figures in a folder of their own."""
    folder = tmp_path_factory.mktemp("papers") / "beyond"
    shutil.copytree(RESULTS / "beyond", folder, ignore=shutil.ignore_patterns("*.png"))
    return folder


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_paper_is_one_page_with_all_verdicts_first(call, paper, tmp_path):
    answer = call("report", paper, "--tables", tmp_path, "--json").json
    assert answer["reports"] == [str(paper / "report.html")]
    assert sorted(path.name for path in paper.rglob("*.html")) == ["report.html"]
    page = (paper / "report.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 5_000_000
    for name in ("addition-1000", "cascades"):
        document = json.loads((paper / name / "result.json").read_text())
        assert f'href="#beyond-{name}"' in page
        assert f'id="beyond-{name}"' in page
        assert document["command"] in page
    last_verdict, first_figure = page.rindex('class="badge'), page.index('class="group"')
    assert last_verdict < first_figure
    found = rows(tmp_path / "verdicts.csv")
    assert tuple(found[0]) == VERDICTS
    assert len(found) == page.count('class="badge')
    stored = {f"beyond/{path.parent.name}" for path in paper.glob("*/result.json")}
    assert {"beyond/addition-1000", "beyond/cascades"} <= stored == {row["figure"] for row in found}


def test_values_of_a_figure_are_those_of_its_result(call, paper, tmp_path):
    assert call("report", paper / "cascades", "--out", tmp_path / "c.html", "--tables", tmp_path).code == 0
    document = json.loads((paper / "cascades" / "result.json").read_text())
    found = rows(tmp_path / "beyond-cascades-values.csv")
    assert tuple(found[0]) == VALUES
    axis = document["curves"]["looped"]["axes"]["length"]
    told = [float(row["value"]) for row in found if row["panel"] == "exact match by length"]
    assert told == [value for row in axis["values"] for value in row]
    trained = {
        row["point"]: row["in_distribution"] for row in found if row["panel"] == "exact match by length"
    }
    assert trained == {str(x): str(x <= 5).lower() for x in axis["x"]}
    assert not (paper / "cascades" / "cascades.svg").exists()  # --out leaves the folder as it is


def test_a_store_is_a_study_with_one_row_a_run_and_point(call, store, tmp_path):
    answer = call("report", store, "--out", tmp_path / "study.html", "--tables", tmp_path, "--json").json
    page = Path(answer["reports"][0]).read_text(encoding="utf-8")
    for words in ("Scores", "sum: training", "Settings that differ", "training.batch", "gives no verdict"):
        assert words in page
    found = rows(tmp_path / "runs.csv")
    assert {(row["recipe"], row["seed"]) for row in found} == {("tiny", "0"), ("tiny", "1"), ("other", "5")}
    assert len(found) == 3 * 3
    for row in found:
        stored = json.loads((store / row["run"] / "run.json").read_text())["scores"]
        assert float(row["score"]) in stored.values()
        assert row["metric"] == "mean squared error"


def test_figures_for_a_paper(call, store, tmp_path):
    run = next(store.glob("tiny-*/seed-0"))
    answer = call("report", run, "--out", tmp_path / "r.html", "--figures", tmp_path / "f", "--json").json
    names = [Path(path).name for path in answer["figures"]]
    assert names == ["axes.pdf", "axes.svg", "training.pdf", "training.svg"]
    pdf = (tmp_path / "f" / "axes.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert b"/Type3" not in pdf
    assert b"/MediaBox [ 0 0 241.2 " in pdf  # a column of 3.35 inches


def test_parquet_without_its_package_is_refused_before_anything_is_written(
    call, store, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    out = tmp_path / "out"
    answer = call("report", store, "--tables", out, "--parquet", "--out", out / "r.html")
    assert answer.code == 2
    assert answer.error == "error: Parquet needs pyarrow: write pip install 'ordinate[tables]'"
    assert not out.exists()
    assert "add --tables DIR" in call("report", store, "--parquet").error
