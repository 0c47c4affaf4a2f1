"""The index answers quickly, and is never more than a copy of what the folders say."""

import shutil
import sqlite3

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.runs.engine import _context
from tests.lab.runs import process_jobs


def recipe(task, model, batch):
    name = f"{task}-{model}"
    return {"name": name, "task": {"name": task}, "model": {"kind": model}, "training": {"batch": batch}}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "runs")
    for task, model, batch in (
        ("sum", "positional", 256),
        ("sum", "standard", 256),
        ("min", "positional", 64),
    ):
        for seed in range(2):
            store.open(recipe(task, model, batch), seed)
    store.find("min-positional-" + store.runs(task="min")[0].key + "/seed-1").update(status="done", step=9)
    return store


def found(store, **filters):
    return [f"{record.name}:{record.seed}" for record in store.runs(**filters)]


class TestFilters:
    @pytest.mark.parametrize(
        ("filters", "expected"),
        [
            ({"name": "sum-*", "seed": 0}, ["sum-positional:0", "sum-standard:0"]),
            ({"task": "min"}, ["min-positional:0", "min-positional:1"]),
            ({"model": "standard"}, ["sum-standard:0", "sum-standard:1"]),
            ({"status": "done"}, ["min-positional:1"]),
            ({"status": ["done", "failed"]}, ["min-positional:1"]),
            ({"seed": range(1, 3), "task": "sum"}, ["sum-positional:1", "sum-standard:1"]),
            ({"where": {"training.batch": 64}, "seed": 0}, ["min-positional:0"]),
            ({"where": {"training.batch": 64, "task.name": "sum"}}, []),
            ({"where": {"training.no.such": None}}, []),
            ({"status": []}, []),
            ({"name": "'; DROP TABLE runs; --"}, []),
        ],
    )
    def test_filters(self, store, filters, expected):
        assert found(store, **filters) == expected

    def test_no_filter_gives_all_in_order(self, store):
        for seed in (10, 2):
            store.open(recipe("min", "positional", 64), seed)
        assert found(store, task="min") == [f"min-positional:{seed}" for seed in (0, 1, 2, 10)]
        assert len(found(store, status=None)) == 8

    def test_an_unknown_filter_names_the_nearest(self, store):
        with pytest.raises(OrdinateError, match="'statsu': did you mean 'status'"):
            store.runs(statsu="done")

    def test_a_record_carries_the_recipe(self, store):
        assert store.runs(task="min")[0].recipe == recipe("min", "positional", 64)

    def test_a_recipe_without_task_or_model_is_listed(self, store):
        store.open({"name": "bare", "task": "text"}, 0)
        (record,) = store.runs(name="bare")
        assert (record.task, record.model) == (None, None)


class TestTruthOfTheFolders:
    def test_a_missing_index_is_rebuilt(self, store):
        before = store.runs()
        for path in store.root.glob("index.sqlite*"):
            path.unlink()
        assert store.runs() == before

    @pytest.mark.parametrize("content", [b"", b"garbage" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
    def test_a_corrupt_index_is_rebuilt(self, store, content):
        before = store.runs()
        store.index.path.write_bytes(content)
        assert store.runs() == before
        store.index.path.write_bytes(content)
        store.find(before[0].id).update(step=77)
        assert store.runs()[0].step == 77
        assert sqlite3.connect(store.index.path).execute("SELECT count(*) FROM runs").fetchone() == (6,)

    def test_an_index_with_damaged_pages_is_rebuilt(self, store):
        before = store.runs()
        data = bytearray(store.index.path.read_bytes())
        data[4096:] = b"\x5a" * (len(data) - 4096)
        store.index.path.write_bytes(bytes(data))
        assert store.runs() == before

    @pytest.mark.parametrize("change", ["DROP TABLE runs", "ALTER TABLE runs DROP COLUMN scores"])
    def test_an_index_of_another_shape_is_rebuilt(self, store, change):
        before = store.runs()
        with sqlite3.connect(store.index.path) as connection:
            connection.execute(change)
        connection.close()
        assert store.runs() == before

    def test_folders_deleted_copied_or_written_by_hand_are_seen(self, store):
        first = store.find(store.runs()[0].id)
        shutil.copytree(first.path, first.path.with_name("seed-7"))
        shutil.rmtree(first.path)
        second = store.find(store.runs()[0].id)
        (second.path / "run.json").write_text('{"status": "failed", "step": 7, "error": "by hand"}')
        assert found(store, task="min") == ["min-positional:1", "min-positional:7"]
        assert store.runs(status="failed")[0].error == "by hand"

    def test_a_run_with_a_broken_record_is_listed_as_failed(self, store):
        run = store.find(store.runs()[0].id)
        (run.path / "run.json").write_text("{")
        (record,) = store.runs(status="failed")
        assert record.id == run.id
        assert "not readable JSON" in record.error

    def test_reindex_reads_every_folder_again(self, store):
        with sqlite3.connect(store.index.path) as connection:
            connection.execute("UPDATE runs SET status = 'failed'")
        connection.close()
        store.reindex()
        assert found(store, status="failed") == []

    def test_where_no_index_can_be_written_the_runs_are_still_listed(self, store):
        before = store.runs()
        for path in store.root.glob("index.sqlite*"):
            path.unlink()
        store.index.path.mkdir()
        assert store.runs() == before
        store.find(before[0].id).update(step=5)
        assert store.runs()[0].step == 5

    def test_a_root_that_is_not_there_has_no_runs_and_stays_absent(self, tmp_path):
        assert Store(tmp_path / "none").runs() == []
        assert not (tmp_path / "none").exists()


def test_processes_write_at_the_same_time_and_lose_nothing(tmp_path):
    context = _context()
    own = [context.Process(target=process_jobs.update_many, args=(tmp_path, [k], 50)) for k in range(4)]
    shared = [context.Process(target=process_jobs.update_many, args=(tmp_path, [9], 10)) for _ in range(2)]
    reader = context.Process(target=process_jobs.read_many, args=(tmp_path, 20))
    processes = [*own, *shared, reader]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 7
    records = {record.seed: record for record in Store(tmp_path).runs()}
    assert [(seed, record.step) for seed, record in records.items()] == [*((k, 49) for k in range(4)), (9, 9)]
    with sqlite3.connect(tmp_path / "index.sqlite") as connection:  # what was asked for is kept
        rows = connection.execute("SELECT seed, step FROM runs ORDER BY seed").fetchall()
    connection.close()
    assert rows == [(seed, record.step) for seed, record in records.items()]
    assert sorted(records[9].scores.values()) == [
        9,
        9,
    ]  # each of the two writers of one run kept the other's score
