"""Symbols and structure on the command line: discover, relations, samples, scores and slices of symbols."""

import tomllib

import pytest

from ordinate.app.cli.main import main
from ordinate.lab.evaluation.points import metric_of_task
from ordinate.lab.tasks import TASKS
from ordinate.lab.toml import inline
from ordinate.lab.training import Recipe
from ordinate.relations import RELATIONS

ADD = """
name = "add"
[task]
name = "addition"
digits = 2
width = 3
[model]
kind = "encoder"
width = 8
heads = 2
hidden = 8
layers = 1
attention = "content-class"
encoding = {kind = "pairwise", relation = {kind = "product", of = ["aligned", {kind = "window", back = 2}]}}
[training]
steps = 4
batch = 8
average = 0.9
[evaluation]
count = 20
axes = {length = [2, 6]}
"""


@pytest.fixture(scope="module")
def sums(tmp_path_factory):
    """A recipe of sums and a store with two seeds of it."""
    folder = tmp_path_factory.mktemp("sums")
    recipe = folder / "add.toml"
    recipe.write_text(ADD)
    assert main(["train", str(recipe), "--seeds", "2", "--out", str(folder / "runs")]) == 0
    return recipe, folder / "runs"


def first(store):
    return next(store.glob("add-*/seed-0"))


# discover


def test_discover_shows_what_it_found_and_a_line_to_paste(call):
    """The page for a reader holds every fact of the document for a program; how it says them is free."""
    words = ("discover", "addition", "--set", "width=6", "--count", 10_000)
    document, answer = call(*words, "--json").json, call(*words)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    for evidence in document["evidence"]:
        shown = [line for line in lines if f"'{evidence['field']}'" in line]
        assert shown
        assert evidence["structure"] == "still" or any(evidence["structure"] in line for line in shown)
    for fact in (*document["lengths"], document["count"], document["threshold"]):
        assert str(fact) in lines[0]
    assert any(document["relation"]["text"] in line for line in lines)
    assert document["toml"] in lines
    encoding = tomllib.loads(document["toml"])["encoding"]
    recipe = {"name": "x", "task": "addition", "model": {"kind": "encoder", "encoding": encoding}}
    (chosen,) = Recipe.parse(recipe).model.encoding
    assert str(chosen.relation[0]) == document["relation"]["text"]


def test_discover_offers_a_token_that_never_changes(call):
    words = ("discover", "multiplication", "--count", 2000)
    document = call(*words, "--json").json
    assert [e["field"] for e in document["evidence"] if e["structure"] == "still"] == ["sign"]
    assert document["relation"]["text"].startswith("uniform('multiplier', 'sign') | aligned('multiplicand')")
    assert "'sign' never changes" in call(*words).out


def test_discover_as_json(call):
    words = ("discover", "multiplication", "--set", "multiplier=2", "--count", 5000)
    document = call(*words, "--threshold", 0.01, "--json").json
    assert set(document) == {
        *("task", "lengths", "count", "threshold", "evidence", "relation", "seed", "toml"),
    }
    assert (document["task"], document["lengths"], document["threshold"]) == ("multiplication", [4, 5], 0.01)
    assert [e["structure"] for e in document["evidence"]] == ["alike", "window", "still"]
    assert document["relation"]["text"].startswith(
        "uniform('multiplier', 'sign') | aligned('multiplicand') * window(back="
    )
    assert tomllib.loads(document["toml"])["encoding"]["kind"] == "pairwise"


def test_discover_shows_ten_rows_a_field_and_progress_when_it_takes_long(call, monkeypatch):
    monkeypatch.setattr("ordinate.app.cli.discover.PATIENCE", 0.0)
    answer = call("discover", "sort", "--set", "length=12", "--count", 1000)
    assert sum(line.endswith(" kept ") for line in answer.out.splitlines()) == 10
    assert "13 more, at most 0." in answer.out
    assert "discover sort step 24/24" in answer.err
    monkeypatch.setattr("ordinate.app.cli.discover.PATIENCE", 60.0)
    assert call("discover", "sort", "--count", 1000).err == ""


def test_inline_toml_comes_back():
    value = {"kind": "a", "of": [{"x": 1, "y": [0.5, True]}, 'b"c'], "none": None}
    read = tomllib.loads(f"v = {inline(value)}")["v"]
    assert read == {"kind": "a", "of": [{"x": 1, "y": [0.5, True]}, 'b"c']}


# relations


def test_relations_are_listed(call):
    found = call("relations", "--json").json["relations"]
    assert [row["name"] for row in found] == list(RELATIONS)
    assert all(set(row) == {"name", "summary", "options"} for row in found)
    window = next(row for row in found if row["name"] == "window")
    assert window["options"]["back"] == {"default": None, "description": None}
    assert window["options"]["ahead"]["default"] == 0
    text = call("relations").out
    assert "distance in the sequence" in text


def test_a_relation_is_shown_at_the_tokens_of_a_task(call):
    words = ("relations", "--task", "addition", "--length", 2, "--set", "width=2")
    relation = '{kind = "product", of = ["aligned", {kind = "window", back = 1}]}'
    text = call(*words, "--show", relation).out
    assert text.startswith("aligned() * window(back=1): 8 classes, 23 of 49 pairs attended")
    assert "first 2" in text
    document = call(*words, "--show", relation, "--json").json
    assert (document["tokens"], document["attended"], len(document["classes"])) == (7, 23, 8)
    assert document["picture"] == text.rstrip("\n")
    assert call(*words, "--show", "causal").code == 0


# samples


@pytest.mark.parametrize("task", TASKS)
def test_every_task_shows_samples_at_its_own_length(call, task):
    answer = call("sample", task, "--count", 2)
    assert answer.code == 0, answer.err
    assert answer.out.split("\n")[1].split() == ["input", "target"]
    document = call("sample", task, "--count", 2, "--json").json
    assert document["length"] == max(TASKS[task]().lengths())
    assert len(document["samples"]) == 2


def test_samples_of_symbols_are_text(call):
    words = ("sample", "addition", "--length", 4, "--axis", "cascade=3", "--set", "width=4", "--json")
    document = call(*words).json
    assert set(document) == {"task", "length", "count", "axes", "seed", "samples"}
    assert document["axes"] == {"cascade": 3}
    for sample in document["samples"]:
        a, b = sample["input"].split(" + ")
        assert int(a) + int(b) == int(sample["target"])


def test_scale_and_length_are_axes_too(call):
    one = call("sample", "sum", "--length", 3, "--scale", 5, "--json")
    other = call("sample", "sum", "--axis", "length=3", "--axis", "scale=5", "--json")
    assert one.json == other.json
    assert set(one.json) == {"task", "length", "count", "scale", "seed", "samples"}


# scores


def test_scores_of_sums_are_named_as_what_they_are(call, sums):
    recipe, store = sums
    trained = call("train", recipe, "--seeds", 2, "--out", store).out
    listed = call("runs", "--store", store).out
    for text in (trained, listed):
        assert "exact match" in text
        assert "averaged weights" in text
        assert "squared" not in text
    facts = call("train", recipe, "--out", store, "--json").json["runs"][0]
    assert facts["averaged"] is True
    assert set(facts["scores"]) == {"validation", "length=2", "length=6"}
    ids = [run["id"] for run in call("runs", "--store", store, "--json").json["runs"]]
    compared = call("runs", "--store", store, "--compare", ids[0], "--compare", ids[1]).out
    assert "exact match" in compared


def test_scores_of_numbers_are_still_squared_errors(call, store):
    assert "mean squared error" in call("runs", "--store", store).out
    assert "averaged" not in call("runs", "--store", store).out
    assert metric_of_task("from elsewhere") == "score"


def test_evaluate_has_the_columns_of_symbols(call, sums):
    _, store = sums
    text = call("evaluate", first(store), "--axis", "length=4", "--store", store).out
    for words in (
        "exact match",
        "symbols right",
        "cross-entropy",
        "averaged weights",
        "length=2",
        "length=4",
    ):
        assert words in text
    words = ("evaluate", first(store), "--axis", "cascade=0,2", "--length", 5, "--store", store, "--json")
    points = call(*words).json["points"]
    assert [(p["axis"], p["value"], p["in_distribution"]) for p in points] == [
        ("length", 2, True),
        ("cascade", 0, False),
        ("cascade", 2, False),
    ]
    assert [p["lengths"] for p in points] == [[2], [5], [5]]


def test_evaluate_by_slice(call, sums):
    _, store = sums
    words = ("evaluate", first(store), "--slice", "cascade", "--count", 50, "--store", store)
    document = call(*words, "--length", 6, "--json").json
    assert [p["in_distribution"] for p in document["points"]] == [True]
    assert [(t["length"], t["in_distribution"]) for t in document["slices"]] == [(6, False), (2, True)]
    for table in document["slices"]:
        assert sum(row["count"] for row in table["rows"]) == 50
        assert all(set(row) == {"value", "count", "score"} for row in table["rows"])
    (table,) = call(*words, "--json").json["slices"]
    assert (table["slice"], table["length"]) == ("cascade", 2)
    text = call(*words, "--length", 6, "--axis", "length=6").out
    for part in ("cascade", "samples", "at length 6", "at length 2", "length=6"):
        assert part in text


def test_the_report_of_symbols(call, sums):
    _, store = sums
    folder = first(store).parent
    assert call("report", folder).code == 0
    page = (folder / "report.html").read_text()
    assert "Exact match, averaged weights" in page
    assert "squared error" not in page


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--slice", "cascad"), "did you mean 'cascade'?"),
        (("--axis", "scale=2"), "has no axis 'scale'"),
        (("--slice", "cascade", "--length", "0"), "'--length'"),
        (("--axis", "cascade=9"), "cascade must be a whole number from 0 to 2"),
        (("--axis", "length=5000"), "4096"),
    ],
)
def test_what_cannot_be_evaluated_is_one_line(call, sums, words, line):
    answer = call("evaluate", first(sums[1]), *words, "--store", sums[1])
    assert answer.code == 2
    assert line in answer.error
