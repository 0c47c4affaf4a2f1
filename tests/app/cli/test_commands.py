"""What the commands say when all is well."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from ordinate.app.cli.main import command as root
from ordinate.attention.costs import Costs, in_force


def test_no_command_shows_the_help(call):
    answer = call()
    assert answer.code == 0
    assert "Usage: ordinate" in answer.out


def test_every_command_has_an_example_and_json(call, command):
    answer = call(command, "--help")
    assert answer.code == 0
    assert f"Example: ordinate {command}" in answer.out
    assert root.commands[command].epilog in " ".join(answer.out.split())  # `:100:` would be drawn as an emoji
    assert "--json" in answer.out
    assert f" {command} " in call("--help").out


def test_help_keeps_what_stands_in_brackets(call, command):
    shown = call(command, "--help").out
    for option in root.commands[command].params:
        for extra in re.findall(r"ordinate\W*\[(\w+)\]", getattr(option, "help", None) or ""):
            assert f"ordinate[{extra}]" in shown


@pytest.mark.parametrize(
    ("command", "first", "keys"),
    [
        ("tasks", "sum", {"name", "family", "axes", "summary", "options"}),
        ("encodings", "none", {"name", "summary", "beyond", "source", "options"}),
        ("models", "positional", {"name", "summary", "options"}),
    ],
)
def test_what_there_is(call, command, first, keys):
    found = call(command, "--json").json[command]
    assert found[0]["name"] == first
    assert set(found[0]) == keys
    text = call(command).out
    for row in found:
        assert row["name"] in text
        assert row["summary"] in text
        assert row.get("source", "") in text


def test_sample_gives_exact_answers(call):
    document = call("sample", "sum", "--length", 3, "--count", 2, "--scale", 5, "--json").json
    assert (document["length"], document["count"], document["scale"], document["seed"]) == (3, 2, 5, 0)
    for sample in document["samples"]:
        a, b, c = sample["input"]
        assert sample["target"] == pytest.approx([a, a + b, a + b + c], abs=1e-5)
    assert call("sample", "sum", "--length", 3, "--count", 2, "--scale", 5, "--json").json == document


def test_sample_of_a_graph(call):
    document = call("sample", "path", "--length", 9, "--count", 1, "--json").json
    assert len(document["samples"][0]["input"]) == len(document["samples"][0]["input"][0]) == 9


def test_sample_answers_an_input(call):
    document = call("sample", "sum", "--input", "1 -2 3", "--json").json
    assert (document["length"], document["count"]) == (3, 1)
    assert document["samples"] == [{"input": [1, -2, 3], "target": [1, -1, 2]}]
    assert call("sample", "k-hop", "--input", "1 abcab", "--json").json["samples"] == [
        {"input": "1 abcab", "target": "~~~bc"}
    ]


def test_sample_is_a_table_of_two_columns(call):
    lines = call("sample", "sort", "--length", 4, "--count", 3).out.split("\n")
    assert lines[1].split() == ["input", "target"]


def test_train_shows_every_seed(call, recipe, tmp_path):
    answer = call("train", recipe, "--seeds", 3, "--out", tmp_path)
    assert answer.code == 0
    for words in ("seed 0", "seed 2", "median [95 % interval]", "scale=10", "parameters", "samples seen"):
        assert words in answer.out
    assert "no verdict" not in answer.out
    assert "one seed, no verdict" in call("train", recipe, "--out", tmp_path).out
    assert "2 seeds, no verdict" in call("train", recipe, "--seeds", 2, "--out", tmp_path).out


def test_failed_seeds_are_shown_and_all_failed_is_exit_1(call, recipe, tmp_path, monkeypatch):
    from ordinate.lab.training.member import Member

    learn = Member.learn

    def failing(self, loss, step):
        learn(self, float("nan") if self.seed in failing.seeds else loss, step)

    failing.seeds = {1}
    monkeypatch.setattr(Member, "learn", failing)
    some = call("train", recipe, "--seeds", 3, "--out", tmp_path / "some")
    assert some.code == 0
    assert "seed 1 failed: " in some.out
    facts = call("train", recipe, "--seeds", 3, "--out", tmp_path / "some", "--resume", "--json").json
    assert facts["failed"] == [1]
    assert [run["status"] for run in facts["runs"]] == ["done", "failed", "done"]

    failing.seeds = {0}
    every = call("train", recipe, "--out", tmp_path / "all", "--json")
    assert every.code == 1
    assert every.json["failed"] == [0]
    assert every.json["note"] == "one seed, no verdict"


def test_evaluate_puts_in_distribution_beside(call, store):
    document = call("evaluate", "other", "--store", store, "--axis", "scale=2,3", "--json").json
    assert [(p["value"], p["in_distribution"]) for p in document["points"]] == [
        (1, True),
        (2, False),
        (3, False),
    ]
    assert document["note"] == "one seed, no verdict"
    assert (document["step"], document["count"], document["task"]) == (20, 40, "sum")
    again = call("evaluate", "other", "--store", store, "--axis", "scale=2,3", "--json").json
    assert again == document


def test_models_of_the_package_are_measured_by_name(call):
    words = ("--axis", "length=5,30", "--count", 20, "--json")
    document = call("evaluate", "addition-relation", *words).json
    assert [point["value"] for point in document["points"]] == [5, 30]
    assert document["points"][1]["accuracy"] > 0.9
    assert document["averaged"]
    assert call("evaluate", "addition-relation", "--step", 3).error.endswith("leave out --step")
    assert call("evaluate", "compiled-adder", "--count", 5, "--json").json["model"] == "compiled"
    assert "did you mean 'addition-relation'?" in call("evaluate", "addition-relatoin").error


def test_evaluate_takes_the_axes_of_the_recipe(call, store):
    text = call("evaluate", "other", "--store", store, "--count", 10).out
    assert "scale=2" in text
    assert "scale=10" in text
    assert "one seed, no verdict" in text


def test_runs_lists_and_filters(call, store):
    def ids(*words):
        return [run["id"].split("-")[0] + run["id"][-1] for run in _runs(call, store, *words)]

    assert ids() == ["other5", "tiny0", "tiny1"]
    assert ids("--model", "standard") == ["other5"]
    assert ids("--task", "sum", "--name", "ti*") == ["tiny0", "tiny1"]
    assert ids("--task", "sort") == []
    assert ids("--status", "failed") == []
    assert ids("--where", "training.batch=16") == ["tiny0", "tiny1"]
    assert ids("--where", "model.encoding.kind=one-hot", "--where", "training.batch=8") == ["other5"]
    answer = call("runs", "--store", store, "--where", "training.bach=16")
    assert answer.code == 2
    assert "did you mean 'training.batch'?" in answer.error
    text = call("runs", "--store", store).out
    assert "other" in text
    assert "20/20" in text


def _runs(call, store, *words):
    return call("runs", "--store", store, *words, "--json").json["runs"]


def test_runs_of_an_empty_folder(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert call("runs", "--json").json == {"store": "runs", "runs": []}
    assert "no runs in runs" in call("runs").err


def test_runs_travel_as_one_file(call, store, tmp_path):
    file, there = tmp_path / "tiny.zip", tmp_path / "there"
    packed = call("runs", "--store", store, "--name", "tiny*", "--pack", file, "--json").json
    assert packed["bytes"] == file.stat().st_size
    assert call("runs", "--store", there, "--unpack", file, "--json").json["added"] == packed["packed"]
    assert "stayed as they were" in call("runs", "--store", there, "--unpack", file).out
    assert {run["id"] for run in _runs(call, there)} == set(packed["packed"])
    assert "write --pack FILE --whole" in call("runs", "--store", store, "--whole").error
    assert "no runs to pack" in call("runs", "--store", store, "--name", "x", "--pack", file).error
    assert "cannot unpack" in call("runs", "--unpack", tmp_path / "none.zip").error


def test_runs_compare(call, store):
    tiny = _runs(call, store)[1]["id"]
    words = ("--store", store, "--compare", tiny, "--compare", "other")
    document = call("runs", *words, "--json").json
    assert document["recipe"]["training.batch"] == [16, 8]
    assert document["recipe"]["model.kind"] == ["positional", "standard"]
    assert "training.steps" not in document["recipe"]
    assert set(document["scores"]) == {"validation", "scale=2", "scale=10"}
    assert document["facts"]["seed"] == [0, 5]
    text = call("runs", *words).out
    assert "settings that differ" in text
    same = call("runs", "--store", store, "--compare", tiny, "--compare", tiny)
    assert "the recipes are the same" in same.out


def test_report_of_a_run_and_of_all_seeds(call, store):
    run = store / _runs(call, store)[1]["id"]
    for folder in (run, run.parent):
        page = folder / "report.html"
        assert call("report", folder, "--json").json["reports"] == [str(page)]
        text = page.read_text()
        for words in (
            "Training",
            "Errors",
            "Settings",
            "Environment",
            "How to rerun",
            "--seed 0 --out again",
        ):
            assert words in text
    assert "One seed, no verdict." in (run / "report.html").read_text()
    assert "2 seeds, no verdict." in (run.parent / "report.html").read_text()


def test_report_of_a_run_that_failed(call, recipe, tmp_path, monkeypatch):
    from ordinate.lab.training.member import Member

    learn = Member.learn
    monkeypatch.setattr(
        Member, "learn", lambda self, loss, step: learn(self, loss if step < 12 else float("inf"), step)
    )
    assert call("train", recipe, "--out", tmp_path).code == 1
    folder = next(tmp_path.glob("*/seed-0"))
    assert call("report", folder).code == 0
    page = (folder / "report.html").read_text()
    assert "failed at step 12 of 20" in page
    assert "Nothing was measured yet" in page


def test_doctor(call, tmp_path):
    answer = call("doctor", "--store", tmp_path / "runs", "--json")
    found = {check["name"]: check for check in answer.json["checks"]}
    assert answer.code == 0
    assert answer.json["ok"]
    assert {"python", "torch", "memory", "float32 products", "precision", "store", "disk"} <= set(found)
    assert found["paths of attention"]["found"].endswith("(columns of dense scores, the default)")
    assert all(check["status"] in ("ok", "warn", "fail") for check in found.values())
    assert all(check["advice"] for check in found.values() if check["status"] != "ok")
    assert not (tmp_path / "runs").exists()
    assert " fail" in call("doctor").out


def test_what_paths_cost_here_is_kept_and_named_by_doctor(call, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = Costs(1.0, 2.0, 3.0, 4.0, 5.0)
    monkeypatch.setattr("ordinate.attention.tune.measured", lambda seconds, tell: found)
    assert call("bench", "--tune", "--quick", "--json").json["costs"] == asdict(found)
    assert not list(tmp_path.iterdir())  # too short to be kept
    answer = call("bench", "--tune", "--json").json
    assert answer["kept"] == str(tmp_path / "ordinate" / "attention.json")
    assert [Costs.of(numbers) for numbers in json.loads(Path(answer["kept"]).read_text()).values()] == [found]
    with in_force(found):
        assert f"measured here: {answer['kept']}" in call("doctor", "--json").out
    assert call("bench", "growth", "--tune").error == (
        "error: --tune measures the paths of attention alone: leave the sections out"
    )


def test_doctor_fails_where_nothing_can_be_written(call, tmp_path):
    (tmp_path / "file").write_text("")
    answer = call("doctor", "--store", tmp_path / "file")
    assert answer.code == 1
    assert "write runs elsewhere" in answer.out
