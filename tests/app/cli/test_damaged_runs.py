"""Commands over a store in which one run is damaged, of a newer version or oddly named: the rest goes on as ever."""

import shutil
import unicodedata
from pathlib import Path

import pytest

from ordinate.lab.runs import Store
from tests.lab.runs.damage import DAMAGES, NAMES, RECORDS


@pytest.fixture
def copied(store, tmp_path):
    """Two seeds of `tiny` and one of `other`."""
    return shutil.copytree(store, tmp_path / "runs")


@pytest.fixture(params=DAMAGES, ids=NAMES)
def damaged(request, copied):
    """A file of the first seed of `tiny`, damaged."""
    name, _, text = request.param
    return damage(copied, name, text)


def damage(store, name, text):
    (file,) = store.glob(f"tiny-*/seed-0/{name}")
    file.write_text(text)
    return file


def files(store):
    return {
        path: path.read_bytes() for path in store.rglob("*") if path.is_file() and "index" not in path.name
    }


def test_runs_lists_it_with_its_cause_and_compares_it(call, copied, damaged):
    listed = call("runs", "--store", copied)
    assert listed.code == 0
    assert sum(line.count("done") for line in listed.out.splitlines()) == 2
    assert f"{damaged.parent.parent.name}/seed-0 cannot be read: {damaged}" in listed.out
    runs = call("runs", "--store", copied, "--json").json["runs"]
    assert [run["status"] for run in runs] == ["done", "failed", "done"]
    ids = [argument for run in runs for argument in ("--compare", run["id"])]
    compared = call("runs", "--store", copied, *ids, "--json").json
    assert compared["facts"]["status"] == ["done", "failed", "done"]
    assert str(damaged) in compared["facts"]["error"][1]
    assert compared["recipe"]["name"][::2] == ["other", "tiny"]
    assert str(damaged) in call("runs", "--store", copied, *ids).out


def test_training_goes_on_with_none_that_is_damaged_and_changes_no_byte(call, copied, damaged, recipe):
    before = files(copied)
    for resume in ([], ["--resume"]):
        answer = call("train", recipe, "--seeds", 2, "--out", copied, *resume)
        assert (answer.code, answer.error[:7]) == (2, "error: ")
        assert files(copied) == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.json", RECORDS["scores that are a list"]),
        ("run.json", RECORDS["a newer version"]),
        ("recipe.toml", ""),
        ("recipe.toml", 'name = "tiny"\ntask = "sum"\nmodel = "positional"\n'),
        ("metrics.jsonl", "[" * 3000 + '\n{"step": 1}\n'),
        ("results/evaluation.json", '[{"axis": "scale"}]'),
    ],
)
def test_a_report_names_it_and_shows_the_others(call, copied, tmp_path, name, text):
    file = damage(copied, name, text)
    for folder in (copied, file.relative_to(copied).parts[0]):
        answer = call("report", copied / folder, "--out", tmp_path / "page.html")
        assert (answer.code, answer.err) == (0, "1 run cannot be read: the report says why\n")
        page = (tmp_path / "page.html").read_text()
        assert "Runs that cannot be read" in page
        assert Path(name).name in page
    alone = call("report", copied / file.relative_to(copied).parts[0] / "seed-0")
    assert alone.code == 2
    assert Path(name).name in alone.error


def test_a_seed_beyond_all_integers_is_refused_before_a_folder_is_made(call, copied, recipe, tmp_path):
    run = next(copied.glob("tiny-*/seed-0"))
    out = tmp_path / "out"
    answer = call("train", recipe, "--seed", 2**63, "--out", out, "--init", run)
    assert answer.code == 2
    assert "a seed cannot be 9223372036854775808: write a whole number from 0 to" in answer.error
    assert not out.exists()


@pytest.mark.parametrize("name", ["NaN", "Infinity"])
def test_a_recipe_that_is_named_like_a_number_is_opened_by_every_command(call, recipe, tmp_path, name):
    store = tmp_path / "runs"
    assert call("train", recipe, "--set", f"name={name}", "--out", store).code == 0
    (listed,) = call("runs", "--store", store, "--json").json["runs"]
    assert (listed["name"], listed["recipe"]["name"]) == (name, name)
    folder = store / listed["id"]
    assert call("evaluate", folder, "--json").code == 0
    assert call("verify", folder, "--json").json["recipe"] == name
    assert call("export", folder, "--out", tmp_path / "exported").code == 0
    assert call("report", folder).code == 0
    assert call("train", recipe, "--set", f"name={name}", "--out", store, "--resume").code == 0
    assert call("train", recipe, "--out", tmp_path / "more", "--init", folder).code == 0


def test_names_of_scores_cannot_steer_the_terminal(call, copied):
    run = Store(copied).find(Store(copied).runs(name="tiny")[0].id)
    run.update(scores={"\x1b[31mred\r\n\t\x9b\u202e": 1.0})
    other = Store(copied).runs(name="other")[0].id
    for arguments in ([], ["--compare", run.id, "--compare", other]):
        answer = call("runs", "--store", copied, *arguments)
        assert answer.code == 0
        assert r"\x1b[31mred\r\n\t\x9b\u202e" in answer.out
        odd = {c for c in answer.out + answer.err if unicodedata.category(c) in ("Cc", "Cf")}
        assert odd <= {"\n"}
