"""A run killed at any moment continues, and ends bit-equal to one never killed."""

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch

from ordinate.attention.costs import DEFAULT, costs, in_force
from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.training import Recipe, load_model, train
from ordinate.lab.training.machine import Stopped


def recipe(every=25, **training):
    return Recipe.parse(
        {
            "name": "killed",
            "task": {"name": "sum", "length": 4, "variable": True},
            "model": {"kind": "positional", "width": 16, "hidden": 16},
            "training": {
                "steps": 50,
                "batch": 16,
                "device": "cpu",
                "log_every": 7,
                "checkpoint_every": 30,
                "save_seconds": 0.1,
                **training,
            },
            "evaluation": {"count": 20, "every": every, "axes": {"scale": [1, 2]}},
        }
    )


def course(run):
    """All that a run leaves behind, but for the clock."""
    rows = [{k: v for k, v in row.items() if k != "seconds"} for row in run.metrics()]
    return (
        rows,
        {step: run.load_checkpoint(step)[0] for step in run.checkpoints()},
        run.read_result("evaluation"),
    )


def assert_same_course(a, b):
    rows_a, models_a, points_a = course(a)
    rows_b, models_b, points_b = course(b)
    assert rows_a == rows_b
    assert points_a == points_b
    assert models_a.keys() == models_b.keys()
    for step, tensors in models_a.items():
        for name, tensor in tensors.items():
            assert torch.equal(tensor, models_b[step][name]), (step, name)


def test_killed_at_a_random_moment(tmp_path):
    seeds = [0, 1]
    r = recipe(samples=60, schedule={"kind": "plateau", "patience": 0, "factor": 0.8}, clip=0.5)
    whole = train(r, seeds, store=str(tmp_path / "whole"))
    chance, kills = random.Random(0), 0
    command = [
        sys.executable,
        "-m",
        "tests.lab.training.trainer",
        json.dumps(r.to_dict()),
        str(tmp_path / "killed"),
    ]
    for attempt in range(2):
        process = subprocess.Popen([*command, *map(str, seeds)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        process.stdout.readline()  # imports are over, training begins
        if attempt < 1:
            time.sleep(chance.uniform(0.05, 0.3))
            process.kill()
        kills += process.wait() == -9
        process.stdout.close()
        store = Store(tmp_path / "killed")
        killed = [store.open(r.to_dict(), seed) for seed in seeds]
        if all(run.status == "done" for run in killed):
            break
    assert kills == 1
    for a, b in zip(whole, killed, strict=True):
        assert_same_course(a, b)
        assert not b.state_steps()


class Stop(Exception):
    pass


EVERY_STEP = recipe(every=5, log_every=1, checkpoint_every=5, save_seconds=0.0, steps=12)


@pytest.fixture(scope="module", params=[(0,), (0, 1)], ids=["one seed", "two seeds"])
def whole(request, tmp_path_factory):
    """Runs that were never stopped."""
    return train(EVERY_STEP, request.param, store=str(tmp_path_factory.mktemp("whole")))


@pytest.mark.parametrize("at", [1, 10])
def test_stopped_at_chosen_steps(tmp_path, at, whole):
    r, seeds = EVERY_STEP, range(len(whole))

    def stop(**facts):
        if facts["step"] == at:
            raise Stop

    with pytest.raises(Stop):
        train(r, seeds, store=str(tmp_path / "stopped"), report=stop)
    runs = train(r, seeds, store=str(tmp_path / "stopped"), resume=True)
    for a, b in zip(whole, runs, strict=True):
        assert_same_course(a, b)


def test_a_stopped_run_goes_on_along_the_paths_that_it_took(tmp_path, monkeypatch):
    """Whatever was measured on the machine in between."""
    chosen = []
    first, second = (replace(DEFAULT, sparse_slot=slot) for slot in (5.0, 6.0))

    def stop(**facts):
        chosen.append(costs())
        if facts["step"] == 10 and len(chosen) < 12:
            raise Stop

    with in_force(first), pytest.raises(Stop):
        train(EVERY_STEP, store=str(tmp_path), report=stop)
    with in_force(second):
        train(EVERY_STEP, store=str(tmp_path), resume=True, report=stop)
        train(EVERY_STEP, [1], store=str(tmp_path), report=lambda **facts: chosen.append(costs()))
    assert set(chosen) == {first, second}
    assert chosen.index(second) == len(chosen) - chosen.count(second)  # the new run alone takes the new costs


@pytest.mark.parametrize("kept", [3, {"sparse_slot": 1.0}])
def test_costs_of_a_run_that_cannot_be_read(tmp_path, kept):
    run = Store(tmp_path).open(EVERY_STEP.to_dict(), 0)
    run.update(environment={**run.record()["environment"], "paths": kept})
    with pytest.raises(
        OrdinateError, match=r"run.json: environment.paths cannot be read: it must have the numbers"
    ):
        train(EVERY_STEP, store=str(tmp_path))


@pytest.mark.parametrize("at", [9, 24])
def test_a_scan_whose_states_become_signs_goes_on_as_it_was(tmp_path, at):
    """Its noise depends on the share of the training that is done; signs begin between the steps 9 and 24."""
    r = recipe(log_every=1, steps=30)
    model = {"kind": "scan", "width": 4, "hidden": 16}
    task, measured = {"name": "machine", "of": "parity", "length": 6}, {"count": 20, "axes": {"length": [9]}}
    r = Recipe.parse({**r.to_dict(), "model": model, "task": task, "evaluation": measured})
    whole = train(r, [0], store=str(tmp_path / "whole"))

    def stop(**facts):
        if facts["step"] == at:
            raise Stop

    with pytest.raises(Stop):
        train(r, [0], store=str(tmp_path / "stopped"), report=stop)
    runs = train(r, [0], store=str(tmp_path / "stopped"), resume=True)
    assert_same_course(whole[0], runs[0])


def test_members_at_different_steps_go_on_from_the_last_common_one(tmp_path):
    r = EVERY_STEP
    whole = train(r, [0, 1], store=str(tmp_path / "whole"))

    def stop(**facts):
        if facts["step"] == 8:
            raise Stop

    with pytest.raises(Stop):
        train(r, [0, 1], store=str(tmp_path / "stopped"), report=stop)
    store = Store(tmp_path / "stopped")
    second = store.open(r.to_dict(), 1)
    latest = second.state_steps()[-1]
    (second.path / "resume" / f"step-{latest:08d}.safetensors").unlink()
    for a, b in zip(whole, train(r, [0, 1], store=store, resume=True), strict=True):
        assert_same_course(a, b)


def test_a_failure_after_the_last_state_happens_again_on_resuming(tmp_path, monkeypatch):
    from ordinate.lab.training.data import Data

    plain = Data.at

    def poisoned(self, step):
        batch = plain(self, step)
        if self.seed == 1 and step == 6:
            batch.input[0, 0, 0] = float("inf")
        return batch

    monkeypatch.setattr(Data, "at", poisoned)
    r = EVERY_STEP
    whole = train(r, [0, 1, 2], store=str(tmp_path / "whole"))
    monkeypatch.setattr("ordinate.lab.runs.run.Run.save_state", _save_until(5))

    def stop(**facts):
        if facts["step"] == 9:
            raise Stop

    with pytest.raises(Stop):
        train(r, [0, 1, 2], store=str(tmp_path / "stopped"), report=stop)
    monkeypatch.undo()
    monkeypatch.setattr(Data, "at", poisoned)
    store = Store(tmp_path / "stopped")
    assert store.open(r.to_dict(), 1).status == "failed"
    runs = train(r, [0, 1, 2], store=store, resume=True)
    assert [run.status for run in runs] == ["done", "failed", "done"]
    for k in (0, 2):
        assert_same_course(whole[k], runs[k])
    assert runs[1].record()["error"] == whole[1].record()["error"]


def _save_until(last):
    from ordinate.lab.runs import Run

    plain = Run.save_state

    def save(self, step, tensors, meta):
        if step <= last:
            plain(self, step, tensors, meta)

    return save


@pytest.mark.parametrize("done", [1, 2], ids=["after the first end", "after the second end"])
def test_stopped_between_the_ends_of_two_seeds(tmp_path, done):
    r, seeds = recipe(batch=32, steps=20), [0, 1, 2]
    whole = train(r, seeds, store=str(tmp_path / "whole"))
    ended = []

    def stop(**facts):
        if "scores" in facts and facts["step"] == 20:
            ended.append(facts)
            if len(ended) == done:
                raise Stop

    with pytest.raises(Stop):
        train(r, seeds, store=str(tmp_path / "stopped"), report=stop)
    store = Store(tmp_path / "stopped")
    assert [store.open(r.to_dict(), k).status for k in seeds].count("done") == done
    for a, b in zip(whole, train(r, seeds, store=store, resume=True), strict=True):
        assert_same_course(a, b)
        assert not b.state_steps()


def test_a_seed_that_is_named_alone_goes_on_beside_those_it_began_with(tmp_path):
    r, seeds = EVERY_STEP, [0, 1, 2]
    whole = train(r, seeds, store=str(tmp_path / "whole"))

    def stop(**facts):
        if facts["step"] == 7:
            raise Stop

    with pytest.raises(Stop):
        train(r, seeds, store=str(tmp_path / "stopped"), report=stop)
    (run,) = train(r, [1], store=str(tmp_path / "stopped"), resume=True)
    assert run.seed == 1
    assert_same_course(whole[1], run)


def test_new_seeds_do_not_change_those_that_were_stopped(tmp_path):
    r = EVERY_STEP
    whole = train(r, [0, 1], store=str(tmp_path / "whole"))

    def stop(**facts):
        if facts["step"] == 7:
            raise Stop

    with pytest.raises(Stop):
        train(r, [0, 1], store=str(tmp_path / "stopped"), report=stop)
    runs = train(r, [0, 1, 2], store=str(tmp_path / "stopped"), resume=True)
    assert [run.status for run in runs] == ["done"] * 3
    for a, b in zip(whole, runs, strict=False):
        assert_same_course(a, b)


@pytest.fixture
def listening():
    """Ctrl-C is listened to, also where tests run in the background of a shell that has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_saves_the_state_of_the_step_under_way(tmp_path, number):
    r = recipe(save_seconds=1000.0, log_every=5)
    whole = train(r, [0, 1], store=str(tmp_path / "whole"))

    def press(**facts):
        if facts["step"] == 15:
            signal.raise_signal(number)

    with pytest.raises(Stopped, match="stopped at step 15 of 50"):
        train(r, [0, 1], store=str(tmp_path / "stopped"), report=press)
    store = Store(tmp_path / "stopped")
    assert [store.open(r.to_dict(), k).state_steps() for k in (0, 1)] == [[15], [15]]
    with pytest.raises(OrdinateError, match="is stopped at step 15 of 50: add --resume to go on"):
        train(r, [0, 1], store=store)
    for a, b in zip(whole, train(r, [0, 1], store=store, resume=True), strict=True):
        assert_same_course(a, b)


@pytest.mark.usefixtures("listening")
def test_a_second_signal_stops_at_once(tmp_path):
    def press(**facts):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt) as raised:
        train(recipe(), [0], store=str(tmp_path), report=press)
    assert not isinstance(raised.value, Stopped)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_seed_that_failed_is_left_as_it_is(tmp_path, monkeypatch):
    from ordinate.lab.training.data import Data

    plain = Data.at

    def poisoned(self, step):
        batch = plain(self, step)
        batch.input[0, 0, 0] = float("inf")
        return batch

    monkeypatch.setattr(Data, "at", poisoned)
    (first,) = train(recipe(), [0], store=str(tmp_path))
    record = first.record()
    assert record["status"] == "failed"
    monkeypatch.undo()
    (again,) = train(recipe(), [0], store=str(tmp_path), resume=True)
    assert again.record() == record
    with pytest.raises(OrdinateError, match=r"failed, the loss is .* at step 1: delete its folder"):
        train(recipe(), [0], store=str(tmp_path))


def test_states_that_a_kill_after_the_end_has_left_are_removed(tmp_path):
    r = recipe(steps=5)
    (run,) = train(r, [0], store=str(tmp_path))
    run.save_state(5, {"x": torch.zeros(1)}, {})
    train(r, [0], store=str(tmp_path))
    assert not run.state_steps()


def test_a_done_run_is_not_trained_again(tmp_path):
    r = recipe(steps=5)
    first = train(r, [0], store=str(tmp_path))[0].record()
    assert train(r, [0], store=str(tmp_path))[0].record() == first


def test_a_stopped_run_is_not_overwritten_without_resume(tmp_path):
    def stop(**facts):
        raise Stop

    with pytest.raises(Stop):
        train(recipe(), [0], store=str(tmp_path), report=stop)
    with pytest.raises(OrdinateError, match="add --resume to go on"):
        train(recipe(), [0], store=str(tmp_path))


def test_a_broken_state_is_passed_over_and_a_broken_checkpoint_refused(tmp_path):
    r = EVERY_STEP
    whole = train(r, [0], store=str(tmp_path / "whole"))[0]

    def stop(**facts):
        if facts["step"] == 8:
            raise Stop

    with pytest.raises(Stop):
        train(r, [0], store=str(tmp_path / "s"), report=stop)
    run = Store(tmp_path / "s").open(r.to_dict(), 0)
    torn = run.path / "resume" / f"step-{run.state_steps()[-1]:08d}.safetensors"
    torn.write_bytes(torn.read_bytes()[:100])
    assert_same_course(whole, train(r, [0], store=str(tmp_path / "s"), resume=True)[0])
    file = run.path / "checkpoints" / "step-00000012.safetensors"
    file.write_bytes(b"not a checkpoint")
    with pytest.raises(OrdinateError, match="not a readable checkpoint"):
        load_model(run.path)


def test_models_load_from_a_run_a_step_and_a_file(tmp_path):
    r = recipe(steps=60)
    run = train(r, [0], store=str(tmp_path))[0]
    assert run.checkpoints() == [30, 60]
    x, c = torch.randn(2, 4, 1), r.task.coordinates(4)
    last, early = load_model(run), load_model(run, step=30)
    assert not torch.equal(last(x, c), early(x, c))
    file = load_model(run.path / "checkpoints" / "step-00000060.safetensors")
    assert torch.equal(file(x, c), last(x, c))
    with pytest.raises(OrdinateError, match="choose one of 30, 60"):
        load_model(run, step=31)


def test_a_foreign_file_is_no_model(tmp_path):
    from ordinate.lab.runs import write_tensors

    write_tensors(tmp_path / "x.safetensors", {"a": torch.zeros(1)}, {})
    with pytest.raises(OrdinateError, match="does not hold a model of this library"):
        load_model(tmp_path / "x.safetensors")
