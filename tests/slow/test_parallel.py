"""One training in two processes: the losses of one process with the same batch, also after it was killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from ordinate.lab.runs import Store
from ordinate.lab.training import Recipe, train

RECIPE = """
name = "shared"
[task]
name = "sum"
length = 4
variable = true
[model]
kind = "standard"
width = 16
hidden = 16
[training]
steps = 150
batch = 15
samples = 70
log_every = 1
save_seconds = 0.0
clip = 0.5
average = 0.9
[evaluation]
count = 20
axes = {scale = [2]}
"""


def start(recipe, out, *options):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "ordinate", "train", str(recipe), "--out", str(out), "--json", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def kill_all(word):
    """Kill every process whose command holds a word: the starter's processes are in sessions of their own."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                os.kill(int(path.parent.name), signal.SIGKILL)


def run_of(recipe, out):
    return Store(out).open(Recipe.read(recipe).to_dict(), 0)


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipe") / "shared.toml"
    path.write_text(RECIPE)
    return path


@pytest.fixture(scope="module")
def together(recipe, tmp_path_factory):
    """Two processes that were never stopped, and what the first of them printed."""
    out = tmp_path_factory.mktemp("together")
    said, errors = start(recipe, out).communicate(timeout=240)
    return run_of(recipe, out), said, errors


def losses(run):
    return torch.tensor([row["loss"] for row in run.metrics() if "loss" in row])


def test_two_processes_are_one_with_the_same_batch(recipe, together, tmp_path):
    run, said, errors = together
    assert run.status == "done", errors
    assert json.loads(said)["runs"][0]["status"] == "done"  # one document: only the first speaks
    (alone,) = train(Recipe.read(recipe), [0], store=str(tmp_path))
    torch.testing.assert_close(losses(run), losses(alone), rtol=1e-3, atol=1e-5)
    mine, theirs = (each.load_checkpoint()[0] for each in (run, alone))
    for name, value in mine.items():
        torch.testing.assert_close(value, theirs[name], rtol=1e-2, atol=1e-4)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_killed_in_the_middle_they_go_on_to_the_same_end(recipe, together, tmp_path):
    process = start(recipe, tmp_path)
    deadline = time.monotonic() + 120
    while not (run := run_of(recipe, tmp_path)).state_steps() or run.state_steps()[-1] < 20:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    kill_all(str(tmp_path))
    process.communicate()
    assert run_of(recipe, tmp_path).status == "running"
    _, errors = start(recipe, tmp_path, "--resume").communicate(timeout=240)
    again = run_of(recipe, tmp_path)
    assert again.status == "done", errors
    assert torch.equal(losses(again), losses(together[0]))
    first, second = (run.load_checkpoint()[0] for run in (together[0], again))
    assert all(torch.equal(value, second[name]) for name, value in first.items())


def test_a_training_that_is_done_is_left_as_it_is(recipe, together):
    run, _, _ = together
    before = Path(run.path / "run.json").read_text()
    _, errors = start(recipe, run.path.parents[1]).communicate(timeout=240)
    assert "nothing was left to train" in errors
    assert Path(run.path / "run.json").read_text() == before


def test_several_seeds_are_refused(recipe, tmp_path):
    process = start(recipe, tmp_path, "--seeds", "2")
    _, errors = process.communicate(timeout=240)
    assert process.returncode != 0
    assert "2 processes train one seed together, not 2: write --seed 0" in errors
