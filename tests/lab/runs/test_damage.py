"""A run that cannot be read is one line of the list, with its cause; it never takes the others along, nor is lost."""

import json

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from tests.lab.runs.damage import DAMAGES, NAMES, RECORDS

RECIPE = {"name": "sum", "task": {"name": "sum"}}


@pytest.fixture
def store(tmp_path):
    """Two runs that are done."""
    store = Store(tmp_path / "runs")
    for seed in range(2):
        store.open(RECIPE, seed).update(status="done", step=9, scores={"validation": 0.5})
    return store


@pytest.fixture(params=DAMAGES, ids=NAMES)
def damaged(request, store):
    """A file of the first run, damaged after it was listed."""
    name, _, text = request.param
    file = store.root / store.runs()[0].id / name
    file.write_text(text)
    return file


def test_one_damaged_run_is_listed_with_its_cause_beside_the_others(store, damaged):
    first, second = store.runs()
    assert (first.status, first.damaged, second.status) == ("failed", True, "done")
    assert first.error.startswith(str(damaged))
    assert "\n" not in first.error
    assert second.scores == {"validation": 0.5}


def test_it_is_listed_the_same_way_without_an_index(store, damaged):
    before = store.runs()
    store.reindex()
    assert store.runs() == before
    for file in store.root.glob("index.sqlite*"):
        file.unlink()
    assert store.runs() == before


def test_it_cannot_be_opened_and_no_byte_of_it_changes(store, damaged):
    before = damaged.read_bytes()
    run = store.find(f"{damaged.parent.parent.name}/seed-0")
    with pytest.raises(OrdinateError):
        store.open(RECIPE, 0).update(status="running")
    with pytest.raises(OrdinateError):
        run.recipe, run.update(step=1)
    assert damaged.read_bytes() == before


def test_a_run_with_a_seed_beyond_all_integers_is_listed_as_damaged(store):
    folder = store.root / store.runs()[0].id
    odd = folder.with_name(f"seed-{2**63}")
    folder.rename(odd)
    first, second = sorted(store.runs(), key=lambda record: record.seed)
    assert (first.seed, first.status) == (1, "done")
    assert (second.seed, second.status) == (2**63, "failed")
    assert "a seed cannot be" in second.error


@pytest.mark.parametrize("seed", [-1, 2**63, 10**30, True])
def test_a_seed_that_cannot_be_stored_is_refused_before_a_folder_is_made(tmp_path, seed):
    store = Store(tmp_path / "none")
    with pytest.raises(OrdinateError, match="write a whole number from 0 to 9223372036854775807"):
        store.open(RECIPE, seed)
    with pytest.raises(OrdinateError, match="a seed cannot be"):
        store.runs(seed=seed)
    assert not store.root.exists()


def test_the_largest_seed_is_a_run_like_others(store):
    store.open(RECIPE, 2**63 - 1).update(status="done", step=1)
    assert store.runs(seed=2**63 - 1)[0].status == "done"


@pytest.mark.parametrize(
    "facts",
    [{"step": 2**63}, {"scores": {"a": "b"}}, {"scores": {"a": None}}, {"seconds": "x"}, {"parameters": 1.5}],
)
def test_what_could_not_be_read_again_is_not_written(store, facts):
    run = store.find(store.runs()[0].id)
    before = run.record()
    with pytest.raises(OrdinateError, match=f"cannot be recorded, {next(iter(facts))} is"):
        run.update(**facts)
    assert run.record() == before


def test_a_run_that_fails_before_its_first_step_fails_at_step_0(store):
    run = store.open(RECIPE, 5)
    run.update(status="failed", error="worker died")
    assert (run.record()["step"], store.runs(seed=5)[0].error) == (0, "worker died")


class TestVersions:
    def test_a_record_carries_the_version(self, store):
        assert store.find(store.runs()[0].id).record()["version"] == 1

    def test_a_record_without_one_is_of_the_first(self, store):
        run = store.find(store.runs()[0].id)
        record = {key: value for key, value in run.record().items() if key != "version"}
        (run.path / "run.json").write_text(json.dumps(record))
        assert store.runs()[0].status == "done"
        run.update(step=10)
        assert run.record()["version"] == 1

    def test_a_newer_one_says_what_to_do(self, store):
        (store.root / store.runs()[0].id / "run.json").write_text(RECORDS["a newer version"])
        assert "version 99, but this ordinate reads up to 1: upgrade ordinate" in store.runs()[0].error


class TestMetrics:
    @pytest.mark.parametrize(
        "row", ["[" * 3000, '{"step": "two"}', f'{{"step": {10**30}}}', '{"step": 2, "loss": "low"}', "[]"]
    )
    def test_a_row_that_is_none_is_named_by_its_line(self, store, row):
        run = store.find(store.runs()[0].id)
        (run.path / "metrics.jsonl").write_text(f'{{"step": 1, "loss": 0.5}}\n{row}\n{{"step": 3}}\n')
        with pytest.raises(OrdinateError, match=r"metrics\.jsonl line 2 "):
            run.metrics()
