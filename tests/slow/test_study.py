"""Studies in processes of their own: workers are killed, the study is interrupted, and nothing of it shows."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

STUDY = """
name = "pair"
seeds = [0, 1]
budget = "samples"

[base]
task = {name = "sum", length = 4}
model = {kind = "positional", width = 8, hidden = 8, layers = 1}
training = {steps = 120, batch = 16, save_seconds = 0.2, log_every = 10}
evaluation = {count = 50, axes = {scale = [2, 4]}}

[[recipes]]
name = "positional"

[[recipes]]
name = "standard"
model.kind = "standard"
"""
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "pair.toml"
    path.write_text(STUDY)
    return path


def start(file, out, *words):
    command = [sys.executable, "-m", "ordinate", "study", str(file), "--out", str(out), "--json", *words]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        # A background job of a shell ignores the signal, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def end(process, seconds=300):
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return process.returncode, out, err


def trainer(out, run="*/seed-*", other_than=None, seconds=200):
    """A worker in the middle of a run that has a state to go on from: its process and the run."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for lock in Path(out, "runs").glob(f"{run}/lock"):
            pid = lock.read_text().strip()
            if pid and int(pid) != other_than and list(lock.parent.glob("resume/step-*.safetensors")):
                return int(pid), lock.parent
        time.sleep(0.01)
    pytest.fail("no run had a state in time")


def numbers(document):
    """All that was found, without where and when."""
    return {key: document[key] for key in ("points", "comparisons", "failed", "seeds", "budget", "recipes")}


@pytest.fixture(scope="module")
def undisturbed(file, tmp_path_factory):
    code, out, err = end(start(file, tmp_path_factory.mktemp("whole"), "--workers", "2"))
    assert code == 0, err
    return numbers(json.loads(out))


def test_the_death_of_a_worker_does_not_show(file, tmp_path, undisturbed):
    process = start(file, tmp_path, "--workers", "2")
    pid, _ = trainer(tmp_path)
    os.kill(pid, signal.SIGKILL)
    code, out, err = end(process)
    assert code == 0, err
    assert "worker died (signal 9), tried again" in err
    assert numbers(json.loads(out)) == undisturbed


def test_a_run_whose_worker_dies_twice_has_failed_and_the_study_goes_on(file, tmp_path, undisturbed):
    process = start(file, tmp_path, "--workers", "1")
    pid, run = trainer(tmp_path)
    os.kill(pid, signal.SIGKILL)
    again, _ = trainer(tmp_path, run.relative_to(tmp_path / "runs"), other_than=pid)
    os.kill(again, signal.SIGKILL)
    code, out, err = end(process)
    assert code == 0, err
    (failed,) = json.loads(out)["failed"]
    assert (failed["seed"], failed["error"]) == (int(run.name[-1]), "worker died (signal 9) twice")
    code, out, err = end(start(file, tmp_path, "--retry"))
    assert code == 0, err
    assert numbers(json.loads(out)) == undisturbed


def test_ctrl_c_stops_it_and_the_same_command_goes_on(file, tmp_path, undisturbed):
    process = start(file, tmp_path, "--workers", "2")
    pid, _ = trainer(tmp_path)
    process.send_signal(signal.SIGINT)
    code, out, err = end(process, 60)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted: the runs so far are kept, the same command goes on from them"
    assert "Traceback" not in err
    assert not Path(f"/proc/{pid}").exists()
    code, out, err = end(start(file, tmp_path, "--workers", "2"))
    assert code == 0, err
    assert numbers(json.loads(out)) == undisturbed


@pytest.fixture(scope="module")
def cluster():
    """A Ray of two machines, so to speak: two nodes with a worker each."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'ordinate[ray]'")
    os.environ.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    nodes.add_node(num_cpus=1)
    nodes.wait_for_nodes()
    yield nodes.address
    nodes.shutdown()


def test_ray_finds_the_same_although_a_worker_is_killed(file, tmp_path, undisturbed, cluster):
    process = start(file, tmp_path, "--engine", "ray", "--address", cluster)
    pid, _ = trainer(tmp_path)
    os.kill(pid, signal.SIGKILL)
    code, out, err = end(process)
    assert code == 0, err
    document = json.loads(out)
    assert (document["engine"], document["workers"]) == ("ray", 2)
    assert "tried again" in err
    assert numbers(document) == undisturbed


def test_a_study_on_ray_stops_on_ctrl_c_and_goes_on_locally(file, tmp_path, undisturbed, cluster):
    process = start(file, tmp_path, "--engine", "ray", "--address", cluster)
    pid, _ = trainer(tmp_path)
    process.send_signal(signal.SIGINT)
    code, _, err = end(process, 60)
    assert code == 130, err
    until = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.1)
    assert not Path(f"/proc/{pid}").exists()  # nothing goes on training
    code, out, err = end(start(file, tmp_path, "--workers", "2"))
    assert code == 0, err
    assert numbers(json.loads(out)) == undisturbed


def test_an_address_where_no_ray_is_is_refused(file, tmp_path):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'ordinate[ray]'")
    code, _, err = end(start(file, tmp_path, "--engine", "ray", "--address", "127.0.0.1:1"))
    assert code == 2, err
    assert "there is no Ray at '127.0.0.1:1'" in err.splitlines()[-1]


def test_ray_of_its_own(file, tmp_path, undisturbed):
    pytest.importorskip("ray", reason="ray is not installed: pip install 'ordinate[ray]'")
    code, out, err = end(start(file, tmp_path, "--engine", "ray", "--workers", "2"))
    assert code == 0, err
    assert numbers(json.loads(out)) == undisturbed


def test_a_figure_on_ray_is_written_where_the_command_was_given(tmp_path, cluster):
    words = ["--scale", "smoke", "--engine", "ray", "--address", cluster, "--out", "figures", "--json"]
    command = [sys.executable, "-m", "ordinate", "reproduce", "positional/value-scale", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, env=ENVIRONMENT, cwd=tmp_path, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (figure,) = document["figures"]
    assert (document["engine"], figure["workers"], figure["not_ended"]) == ("ray", 2, [])
    assert list(tmp_path.glob("figures/runs/*/seed-*/results/evaluation.json"))
