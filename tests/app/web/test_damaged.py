"""The list of runs with one that is damaged in it: that one is broken, the others are as they were."""

import json

import pytest

from ordinate.app.web.runs import run_facts
from ordinate.app.web.store import studies_of
from ordinate.lab.runs import Store
from ordinate.lab.runs.plain import to_json
from tests.lab.runs.damage import DAMAGES, NAMES


@pytest.fixture
def store(tmp_path):
    """Two runs that are done."""
    store = Store(tmp_path / "runs")
    for seed in range(2):
        run = store.open({"name": "sum", "task": {"name": "sum"}}, seed)
        run.update(status="done", step=9, scores={"validation": 0.5})
    return store


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, _, text in DAMAGES], ids=NAMES)
def test_one_damaged_run_is_shown_as_broken(store, name, text):
    (store.root / store.runs()[0].id / name).write_text(text)
    (study,) = json.loads(to_json(studies_of(store)))
    assert [run["status"] for run in study["runs"]] == ["broken", "done"]
    assert name in study["runs"][0]["error"]
    assert (study["done"], study["failed"], study["median"]) == (1, 1, {"validation": 0.5})


def test_a_row_of_metrics_that_is_nested_too_deeply_is_passed_over(store):
    run = store.find(store.runs()[0].id)
    run.update(status="running")
    (run.path / "metrics.jsonl").write_text('{"step": 5, "loss": 0.5}\n' + "[" * 3000 + "\n")
    assert run_facts(run)["step"] == 5
    assert studies_of(store)[0]["runs"][0]["loss"] == 0.5
