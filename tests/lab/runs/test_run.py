"""What a run keeps: facts, metrics, states to resume from, checkpoints, results."""

import json
import math
import threading

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store, status_now


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def run(store):
    return store.open({"name": "sum", "task": {"name": "sum"}}, seed=0)


def tensors(step):
    return {"weight": torch.full((2,), float(step))}


class TestFacts:
    def test_updates_reach_the_file_and_the_index(self, store, run):
        run.update(status="running", step=5, steps=10, parameters=1000)
        run.update(step=6)
        assert json.loads((run.path / "run.json").read_text())["step"] == 6
        (record,) = store.runs()
        assert (record.status, record.step, record.steps, record.parameters) == ("running", 6, 10, 1000)

    def test_scores_are_added_and_may_be_not_a_number(self, store, run):
        run.update(scores={"exact": 0.5, "loss": math.nan})
        run.update(scores={"exact": 0.75, "far": 0.25})
        assert run.record()["scores"].keys() == {"exact", "loss", "far"}
        (record,) = store.runs()
        assert (record.scores["exact"], record.scores["far"]) == (0.75, 0.25)
        assert math.isnan(record.scores["loss"])

    def test_created_stays_and_updated_moves_on(self, run):
        before = run.record()
        run.update(step=1)
        after = run.record()
        assert after["created"] == before["created"] <= before["updated"] <= after["updated"]

    def test_an_unknown_status_is_refused(self, run):
        with pytest.raises(OrdinateError, match="'finished': write one of new, running, done, failed"):
            run.update(status="finished")


class TestStatus:
    def test_a_run_that_nobody_works_on_is_stopped(self, run):
        run.update(status="running")
        assert status_now(run.path, run.status) == "stopped"
        with run.lock():
            assert status_now(run.path, run.status) == "running"
        run.update(status="done")
        assert status_now(run.path, run.status) == "done"

    def test_looking_never_keeps_a_trainer_out(self, run):
        run.update(status="running")
        over = threading.Event()

        def look():
            while not over.is_set():
                status_now(run.path, "running")

        looking = threading.Thread(target=look)
        looking.start()
        try:
            for _ in range(50):
                with run.lock():
                    pass
        finally:
            over.set()
            looking.join()


class TestMetrics:
    def test_rows_are_appended(self, run):
        assert run.metrics() == []
        run.append_metrics([{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.25}])
        run.append_metrics(iter([{"step": 3, "loss": 0.125}]))
        run.append_metrics([])
        assert [row["step"] for row in run.metrics()] == [1, 2, 3]

    def test_rows_that_are_not_finite_are_valid_json(self, run):
        run.append_metrics([{"step": 1, "loss": math.nan, "norm": torch.tensor(math.inf)}])

        def refuse(token):
            raise AssertionError(token)

        json.loads((run.path / "metrics.jsonl").read_text(), parse_constant=refuse)
        (row,) = run.metrics()
        assert math.isnan(row["loss"])
        assert row["norm"] == math.inf

    def test_a_torn_last_line_is_ignored_and_cut_off_by_the_next_append(self, run):
        run.append_metrics([{"step": 1}, {"step": 2}])
        path = run.path / "metrics.jsonl"
        path.write_bytes(path.read_bytes() + b'{"step": 3, "lo')
        assert [row["step"] for row in run.metrics()] == [1, 2]
        run.append_metrics([{"step": 3}])
        assert [row["step"] for row in run.metrics()] == [1, 2, 3]

    @pytest.mark.parametrize("cut", range(1, 14))
    def test_every_place_to_tear_leaves_whole_rows(self, run, cut):
        run.append_metrics([{"step": 1}, {"step": 20}])
        path = run.path / "metrics.jsonl"
        path.write_bytes(path.read_bytes()[:-cut])
        kept = run.metrics()
        run.append_metrics([{"step": 300}])
        assert run.metrics() == [*kept, {"step": 300}]
        assert kept == ([{"step": 1}, {"step": 20}] if cut == 1 else [{"step": 1}])

    def test_a_broken_line_in_the_middle_is_an_error(self, run):
        (run.path / "metrics.jsonl").write_text('{"step": 1}\n{"st\n{"step": 3}\n')
        with pytest.raises(OrdinateError, match="line 2 is not a JSON object"):
            run.metrics()

    def test_truncation_keeps_the_rows_up_to_a_step(self, run):
        run.truncate_metrics(5)
        assert run.metrics() == []
        run.append_metrics([{"step": 10 * k} for k in range(5)] + [{"note": "no step"}])
        run.truncate_metrics(20)
        assert run.metrics() == [{"step": 0}, {"step": 10}, {"step": 20}, {"note": "no step"}]

    def test_a_full_disk_is_one_line(self, run):
        (run.path / "metrics.jsonl").mkdir()
        with pytest.raises(OrdinateError, match=r"cannot write .*metrics\.jsonl: is a directory"):
            run.append_metrics([{"step": 1}])


class TestStates:
    def test_the_latest_two_are_kept(self, run):
        assert run.state_steps() == []
        for step in (100, 200, 300):
            run.save_state(step, tensors(step), {"step": step})
        assert run.state_steps() == [200, 300]
        assert sorted(p.name for p in (run.path / "resume").iterdir()) == [
            "step-00000200.safetensors",
            "step-00000300.safetensors",
        ]
        loaded, meta = run.load_state(200)
        assert torch.equal(loaded["weight"], torch.full((2,), 200.0))
        assert meta == {"step": 200}

    def test_a_truncated_state_does_not_count_and_is_replaced(self, run):
        for step in (100, 200):
            run.save_state(step, tensors(step), {})
        broken = run.path / "resume" / "step-00000200.safetensors"
        broken.write_bytes(broken.read_bytes()[:-3])
        assert run.state_steps() == [100]
        run.save_state(150, tensors(150), {})
        assert run.state_steps() == [100, 150]
        assert not broken.exists()

    def test_states_after_the_one_written_are_given_up(self, run):
        for step in (100, 200, 150):
            run.save_state(step, tensors(step), {})
        assert run.state_steps() == [100, 150]

    def test_a_missing_state_names_those_there_are(self, run):
        with pytest.raises(OrdinateError, match="has no state yet: train it first"):
            run.load_state(100)
        run.save_state(100, tensors(100), {})
        with pytest.raises(OrdinateError, match="has no state at step 7: choose one of 100"):
            run.load_state(7)

    def test_states_are_dropped_at_the_end(self, run):
        run.drop_states()
        run.save_state(100, tensors(100), {})
        run.drop_states()
        assert run.state_steps() == []


class TestCheckpoints:
    def test_all_are_kept_and_the_last_is_the_default(self, run):
        for step in (0, 100, 20_000_000, 123_456_789):
            run.save_checkpoint(step, tensors(step), {"step": step})
        assert run.checkpoints() == [0, 100, 20_000_000, 123_456_789]
        assert run.load_checkpoint()[1] == run.load_checkpoint(None)[1] == {"step": 123_456_789}
        assert run.load_checkpoint(0)[1] == {"step": 0}

    def test_a_missing_checkpoint_names_those_there_are(self, run):
        with pytest.raises(OrdinateError, match="has no checkpoint yet: train it first"):
            run.load_checkpoint()
        run.save_checkpoint(100, tensors(100), {})
        with pytest.raises(OrdinateError, match="has no checkpoint at step 50: choose one of 100"):
            run.load_checkpoint(50)

    def test_a_broken_checkpoint_is_named(self, run):
        run.save_checkpoint(100, tensors(100), {})
        (run.path / "checkpoints" / "step-00000100.safetensors").write_bytes(b"")
        with pytest.raises(OrdinateError, match=r"step-00000100\.safetensors is not a readable checkpoint"):
            run.load_checkpoint()

    def test_a_negative_step_is_refused(self, run):
        with pytest.raises(OrdinateError, match="a step cannot be -1"):
            run.save_checkpoint(-1, {}, {})


class TestResults:
    def test_documents_and_arrays_come_back(self, run):
        run.write_result("length.v2", {"points": [[5, 1.0], [10, 0.5]]})
        run.save_arrays("maps", {"layer-0": torch.eye(2)})
        assert run.read_result("length.v2") == {"points": [[5, 1.0], [10, 0.5]]}
        assert run.results() == ["length.v2"]
        assert torch.equal(run.load_arrays("maps")["layer-0"], torch.eye(2))

    def test_a_misspelt_name_gets_the_nearest(self, run):
        with pytest.raises(OrdinateError, match="has no results named 'length': there are none yet"):
            run.read_result("length")
        run.write_result("length", {})
        with pytest.raises(OrdinateError, match="did you mean 'length'"):
            run.read_result("lenght")

    @pytest.mark.parametrize("name", ["../x", "a/b", "", ".x"])
    def test_a_name_cannot_leave_the_folder(self, run, name):
        with pytest.raises(OrdinateError, match="cannot name a file"):
            run.write_result(name, {})
        with pytest.raises(OrdinateError, match="cannot name a file"):
            run.load_arrays(name)
