"""`ordinate compile` and `ordinate verify`."""

import pytest

from ordinate.lab.programs.collection import PROGRAMS


def test_without_a_name_all_programs_are_listed(call):
    text = call("compile").out
    found = call("compile", "--json").json["programs"]
    assert [row["name"] for row in found] == list(PROGRAMS)
    for row in found:
        assert row["name"] in text
        assert row["summary"] in text


def test_compile_says_what_the_model_costs(call, tmp_path):
    answer = call("compile", "prefix-sum", "--n", 16, "--out", tmp_path / "model", "--json")
    assert answer.code == 0, answer.err
    document = answer.json
    assert (document["n"], document["rounds"], document["layers"], document["layer_bound"]) == (16, 4, 4, 32)
    assert (document["heads"], document["width"], document["error_bound"]) == (1, 1, 0)
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == [
        "model.safetensors",
        "program.json",
    ]
    text = call("compile", "addition", "--n", 5).out
    for words in ("digits and carries of a + b", "(theorem: 24)", "input word 1: whole numbers in [0, 9]"):
        assert words in text


def test_the_table_shows_a_logarithm(call):
    rows = call("compile", "prefix-max", "--table", "--json").json["table"]
    assert [row["n"] for row in rows] == [8 << k for k in range(10)]
    assert [row["layers"] for row in rows] == list(range(3, 13))
    assert all(row["layers"] <= row["layer_bound"] and row["heads"] <= row["head_bound"] for row in rows)
    assert "4096" in call("compile", "prefix-max", "--table").out


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_verify_compares_everything(call, dtype):
    answer = call("verify", "addition", "--n", 6, "--count", 50, "--dtype", dtype, "--json")
    assert answer.code == 0, answer.err
    document = answer.json
    assert (document["holds"], document["worst"], document["error_bound"]) == (True, 0, 0)
    assert document["lengths"] == [1, 6]
    assert [row["kind"] for row in document["differences"]] == ["random", "boundary", "hard"]
    text = call("verify", "sort", "--n", 4, "--count", 20).out
    for words in (
        "weights - machine",
        "proven error bound: 0",
        "lengths: 4",
        "all agree",
        "anything else is refused",
    ):
        assert words in text


def test_a_wrong_program_fails(call, monkeypatch):
    from dataclasses import replace

    wrong = replace(PROGRAMS["prefix-sum"], reference=lambda x: x)
    monkeypatch.setitem(PROGRAMS, "prefix-sum", wrong)
    answer = call("verify", "prefix-sum", "--n", 4, "--count", 5)
    assert answer.code == 1
    assert "they do not agree" in answer.out


@pytest.fixture
def compiled(call, tmp_path):
    """Compile into a folder and return it."""

    def write(name, *options):
        folder = tmp_path / name
        answer = call("compile", name, "--n", 4, "--out", folder, *options)
        assert answer.code == 0, answer.err
        return folder

    return write


@pytest.mark.parametrize("options", [(), ("--dense",), ("--dtype", "float64")])
def test_a_compiled_folder_is_evaluated_on_the_task_of_the_library(call, compiled, options):
    folder = compiled("sort", *options)
    answer = call("evaluate", folder, "--axis", "scale=1,50", "--count", 30, "--json")
    assert answer.code == 0, answer.err
    document = answer.json
    assert (document["task"], document["model"], document["step"]) == ("sort", "compiled", None)
    assert [(p["value"], p["mse"], p["accuracy"]) for p in document["points"]] == [(1, 0, 1), (50, 0, 1)]


def test_a_program_without_a_task_is_evaluated_on_its_own_inputs(call, compiled):
    folder = compiled("addition")
    (point,) = call("evaluate", folder, "--json").json["points"]
    assert (point["axis"], point["value"], point["mse"]) == ("length", 4, 0)
    assert "compiled, not trained; proven error bound 0" in call("evaluate", folder).out
    shorter = call("evaluate", folder, "--axis", "length=2", "--json").json["points"]
    assert [p["mse"] for p in shorter] == [0, 0]


def test_a_program_on_real_numbers_is_right_within_its_bound(call, compiled):
    folder = compiled("prefix-min", "--reals")
    document = call("evaluate", folder, "--axis", "scale=10", "--json").json
    assert 0 < max(p["mse"] for p in document["points"]) < 1e-9
    answer = call("compile", "parity", "--reals", "--n", 4)
    assert answer.code == 2
    assert "not of whole numbers" in answer.error


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--axis", "scale=60"), "outside its range: give whole numbers in [-100, 100]"),
        (("--axis", "length=9"), "9 tokens"),
        (("--axis", "colour=9"), "no axis 'colour'"),
        (("--count", "0"), "evaluation.count"),
        (("--step", "3"), "leave out --step"),
    ],
)
def test_what_a_compiled_model_cannot_answer_is_refused(call, compiled, arguments, words):
    answer = call("evaluate", compiled("prefix-sum"), *arguments)
    assert answer.code == 2
    assert words in answer.error


def test_a_compiled_folder_has_a_report(call, compiled):
    folder = compiled("prefix-sum")
    assert call("report", folder, "--json").json["reports"] == [str(folder / "report.html")]
    page = (folder / "report.html").read_text()
    for words in (
        "theorem allows",
        "Layers",
        "ordinate verify prefix-sum --n 4",
        "whole numbers in [-100, 100]",
    ):
        assert words in page
    (folder / "program.json").write_text("{}")
    assert "compile it again" in call("report", folder).error


def test_a_compiled_folder_is_no_run_to_compare(call, compiled):
    folder = compiled("prefix-sum")
    answer = call("runs", "--compare", folder, "--compare", folder)
    assert answer.code == 2
    assert "is a compiled program, not a run" in answer.error


def test_a_picture_is_drawn(call, tmp_path):
    for ending in ("png", "svg", "pdf"):
        answer = call("compile", "prefix-sum", "--n", 4, "--picture", tmp_path / f"walk.{ending}")
        assert answer.code == 0, answer.err
        assert (tmp_path / f"walk.{ending}").stat().st_size > 1000
    assert "write walk.png" in call("compile", "prefix-sum", "--picture", "walk.gif").error
    assert "--n 32" in call("compile", "prefix-sum", "--n", 64, "--picture", "walk.png").error
    assert "no program is named" in call("compile", "--picture", "walk.png").error


def test_a_compiled_program_is_the_start_of_a_training(call, compiled, tmp_path):
    folder = compiled("prefix-sum", "--dense", "--reals")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('name = "from"\n[task]\nname = "sum"\nlength = 4\n[model]\nkind = "positional"\n')
    store = tmp_path / "runs"
    answer = call("train", recipe, "--init", folder, "--out", store)
    assert answer.code == 2
    assert not store.exists()
    sizes = [word for word in answer.error.split() if word.startswith("model.")]
    assert "model.layers=2" in sizes
    changes = ["training.steps=5", "training.optimizer.learning_rate=1e-9", "evaluation.axes={scale=[10]}"]
    settings = [part for change in (*sizes, *changes) for part in ("--set", change.rstrip(","))]
    answer = call("train", recipe, *settings, "--init", folder, "--out", store, "--json")
    assert answer.code == 0, answer.err
    (run,) = answer.json["runs"]
    assert run["scores"]["scale=10"] < 1e-9
    again = call("train", recipe, *settings, "--init", run["id"], "--out", store, "--json")
    assert again.json["runs"][0]["scores"]["scale=10"] < 1e-9
    assert again.json["runs"][0]["id"] != run["id"]


def test_what_cannot_be_a_start_is_refused(call, compiled, recipe, tmp_path):
    folder = compiled("prefix-sum")
    assert "with ordinate compile --dense" in call("train", recipe, "--init", folder, "--out", tmp_path).error
    assert "there is no run 'nowhere'" in call("train", recipe, "--init", "nowhere", "--out", tmp_path).error
