"""`reproduce` and `bench` with small stand-ins: what is shown, and the exit codes."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest

import bench
from ordinate import papers
from ordinate.app.cli.reproduce import choose_figures
from ordinate.lab.evaluation.claims import AtLeast, Claim
from ordinate.lab.evaluation.statistics import Interval
from ordinate.lab.runs import Job
from ordinate.lab.runs.engine import ENGINES
from tests.lab.runs import process_jobs
from tests.papers.inline import Inline


class Fake:
    """A figure whose claim is that a number is at least ten."""

    summary = "squares of small numbers"
    title = "Squares"
    scales: ClassVar = {"smoke": "in a moment", "laptop": "two numbers, a minute on 2 cores, less after good"}

    def __init__(self, name: str, measured: float) -> None:
        self.name, self.measured = name, measured

    def check(self, scale: str) -> None:
        assert scale in self.scales

    def jobs(self, scale: str, out: Path) -> list[Job]:
        return [Job(f"square {n}", process_jobs.square, {"number": n}) for n in (2, 3)]

    def reproduce(self, scale, out, *, engine, on_event):
        outcomes = engine.run(self.jobs(scale, out), on_event)
        interval = Interval(self.measured, self.measured - 1, self.measured + 1, 0.95)
        claim = Claim("It is large.", interval, AtLeast(10.0), 12.0, 5, 1, scale)
        document = {
            "figure": self.name,
            "scale": scale,
            "values": [o.value for o in outcomes],
            "nan": float("nan"),
        }
        return SimpleNamespace(
            document=document,
            claims=[claim],
            table=(["n", "square"], [["2", "4"], ["3", "9"]]),
            files={"html": out / "report.html"},
            failed=claim.verdict == "contradicted",
            to_dict=lambda: {**document, "claims": [claim.to_dict()]},
        )


def opened_by(give):
    """An engine for the table of engines: what `give(address, workers)` returns."""
    return type("Opened", (Inline,), {"open": staticmethod(give)})


@pytest.fixture
def here(monkeypatch):
    """Jobs run in this process: one test below starts workers."""
    monkeypatch.setitem(ENGINES, "local", opened_by(lambda address, workers: Inline()))


@pytest.fixture
def figures(monkeypatch):
    table = {f.name: f for f in (Fake("one/good", 20.0), Fake("one/open", 10.0), Fake("two/bad", 2.0))}
    monkeypatch.setattr(papers, "FIGURES", table)
    return table


def test_a_supported_claim_is_exit_0(call, figures, tmp_path):
    answer = call("reproduce", "one/good", "--out", tmp_path, "--workers", 1)
    assert answer.code == 0
    assert "✓ supported" in answer.out
    assert "4 (1 failed)" not in answer.out
    assert "5 (1 failed)" in answer.out
    assert f"report: {tmp_path / 'report.html'}" in answer.out
    assert "one/good 2/2 done: square 3" in answer.err
    assert "all verdicts" not in answer.out


@pytest.mark.usefixtures("here")
def test_a_contradicted_claim_is_exit_1_and_an_open_one_is_not(call, figures, tmp_path):
    bad = call("reproduce", "two", "--out", tmp_path, "--workers", 1, "--json")
    assert bad.code == 1
    assert bad.json["failed"]
    assert bad.json["figures"][0]["values"] == [4, 9]
    assert bad.json["figures"][0]["nan"] == "NaN"
    assert [(v["figure"], v["verdict"]) for v in bad.json["verdicts"]] == [("two/bad", "contradicted")]
    assert call("reproduce", "one/open", "--out", tmp_path, "--workers", 1).code == 0


@pytest.mark.usefixtures("here")
def test_smoke_gives_no_verdict(call, figures, tmp_path):
    answer = call("reproduce", "two/bad", "--scale", "smoke", "--out", tmp_path, "--workers", 1)
    assert answer.code == 0
    assert "○ no verdict" in answer.out


def test_one_engine_does_all_figures_and_is_closed(call, figures, tmp_path, monkeypatch):
    engine, told = Inline(), []
    monkeypatch.setattr(engine, "close", lambda: told.append("closed"))
    monkeypatch.setitem(ENGINES, "ray", opened_by(lambda *words: told.append(words) or engine))
    words = ("--engine", "ray", "--address", "host:6379", "--workers", 3, "--json")
    answer = call("reproduce", "one", "--out", tmp_path, *words)
    assert answer.code == 0
    assert answer.json["engine"] == "ray"
    assert "one/good at scale laptop: 2 jobs on 1 worker, engine ray" in answer.err
    assert told == [("host:6379", 3), "closed"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--engine", "lokal"), "there is no engine 'lokal': did you mean 'local'?"),
        (("--address", "auto"), "the local engine has no address: write --engine ray"),
        (("--workers", "0"), "workers cannot be 0: write 1 or more"),
        (("--engine", "ray"), "write pip install 'ordinate[ray]'"),
    ],
)
def test_what_is_refused(call, figures, tmp_path, monkeypatch, words, line):
    monkeypatch.setitem(sys.modules, "ray", None)  # as without the extra
    answer = call("reproduce", "one", "--out", tmp_path / "out", *words)
    assert answer.code == 2
    assert line in answer.error
    assert not (tmp_path / "out").exists()


def test_the_list_names_all(call, figures):
    rows = call("reproduce", "--list", "--json").json["figures"]
    assert [row["name"] for row in rows] == list(figures)
    assert rows[0]["paper"] == "one"
    assert rows[0]["scales"] == Fake.scales


def test_the_list_is_a_line_a_figure_and_all_about_one_that_is_alone(call, figures):
    lines = [re.split(r"  +", line.strip()) for line in call("reproduce", "--list").out.splitlines()]
    time = "a minute, less after good"
    assert [line for line in lines if "Squares" in line] == [
        [name, "Squares", "smoke laptop", time] for name in ("good", "open", "bad")
    ]
    assert [line for line in lines if line[0].endswith("/")] == [["one/"], ["two/"]]
    assert lines[-1] == ["all about one: ordinate reproduce one/good --list"]
    alone = call("reproduce", "one/good", "--list").out
    for words in ("one/good  Squares", "squares of small numbers", "in a moment", *Fake.scales.values()):
        assert words in alone


def test_choose_figures():
    table = {"a/x": 1, "a/y": 2, "b/x": 3}
    assert choose_figures(None, table) == table
    assert choose_figures("a/", table) == {"a/x": 1, "a/y": 2}
    assert choose_figures("b/x", table) == {"b/x": 3}


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (None, 0), (False, 1)])
def test_bench_fails_when_a_target_is_missed(call, monkeypatch, ok, code):
    row = {"section": "data", "measure": "ratio", "value": 2.5, "unit": "x", "target": 2.0, "ok": ok}

    def run_sections(names, on_progress, settings):
        on_progress(f"{names[0]}: measuring")
        return {"environment": {}, "rows": [row]}

    monkeypatch.setattr(bench, "run_sections", run_sections)
    answer = call("bench", "data", "--quick")
    assert answer.code == code
    assert "2.5" in answer.out
    assert "data: measuring" in answer.err
    assert call("bench", "--json").json["rows"] == [row]


def test_bench_list(call):
    names = [section["name"] for section in call("bench", "--list", "--json").json["sections"]]
    assert names == list(bench.SECTIONS)


def test_several_figures_end_with_one_table_of_verdicts(call, figures, tmp_path, monkeypatch):
    monkeypatch.setattr(Fake, "jobs", lambda self, scale, out: [])  # no process is started
    answer = call("reproduce", "one", "--out", tmp_path, "--workers", 1)
    whole = answer.out[answer.out.index("all verdicts, scale laptop") :]
    assert [name for name in figures if name in whole] == ["one/good", "one/open"]
    assert answer.out.splitlines()[-1] == "2 claims of 2 figures: 1 supported, 1 inconclusive"


def test_an_unknown_paper_is_one_line_with_the_nearest_name(call, tmp_path):
    answer = call("reproduce", "symetry", "--out", tmp_path)
    assert answer.code == 2
    assert answer.error.endswith("there is no figure 'symetry': did you mean 'symmetry'?")
