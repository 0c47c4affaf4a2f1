"""The command as a person meets it: a process of its own, its exit codes, its two streams."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ordinate.app.cli.main import command as root


def test_help_imports_nothing_heavy(environment):
    code = (
        "import sys; from ordinate.app.cli.main import main; code = main(['--help']); "
        "assert not {'torch', 'numpy', 'matplotlib'} & set(sys.modules), 'heavy'; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "reproduce" in done.stdout


def test_help_is_quick():
    """A third of a second on a quiet machine; here against a bare import of what it is written with."""

    def seconds(*words: str) -> float:
        begun = time.perf_counter()
        subprocess.run([sys.executable, *words], capture_output=True, check=True)
        return time.perf_counter() - begun

    bare_words = ("-c", "import typer.rich_utils, typer.main")
    turns = [(seconds("-m", "ordinate", "--help"), seconds(*bare_words)) for _ in range(3)]
    ours, bare = (min(times) for times in zip(*turns, strict=True))
    assert ours < 2.5 * bare


def test_training_imports_nothing_that_draws(environment, recipe, tmp_path):
    code = (
        "import sys; from ordinate.app.cli.main import main; code = main(sys.argv[1:]); "
        "assert 'torch' in sys.modules and 'matplotlib' not in sys.modules, 'draws'; sys.exit(code)"
    )
    words = ("train", str(recipe), "--set", "training.steps=1", "--out", str(tmp_path / "runs"))
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr


def test_json_goes_to_stdout_alone(ordinate):
    answer = ordinate("sample", "sum", "--length", 3, "--count", 2, "--seed", 1, "--json")
    assert answer.code == 0
    assert answer.err == ""
    assert answer.json["task"] == "sum"


def test_train_evaluate_and_list(ordinate, call, recipe, monkeypatch, tmp_path):
    trained = ordinate("train", recipe, "--seeds", 2, "--json")
    assert trained.code == 0, trained.err
    assert "step 20/20" in trained.err
    assert [run["status"] for run in trained.json["runs"]] == ["done", "done"]
    run = trained.json["runs"][0]
    assert set(run["scores"]) == {"validation", "scale=2", "scale=10"}
    assert run["samples_seen"] == 20 * 16

    monkeypatch.chdir(tmp_path)  # where that process was
    swept = call("evaluate", run["id"], "--axis", "scale=1:3", "--count", 20, "--json")
    assert [point["value"] for point in swept.json["points"]] == [1, 2, 3]

    listed = call("runs", "--json")
    assert [found["id"] for found in listed.json["runs"]] == [run["id"] for run in trained.json["runs"]]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_ends_in_one_line_and_the_run_can_be_resumed(call, recipe, tmp_path, environment, number):
    changes = ("--set", "training.steps=600")
    words = ["train", str(recipe), *changes, "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "ordinate", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        # A background job of a shell ignores the signal, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stderr is not None
        assert "step 5/600" in process.stderr.readline()
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err
    said = re.fullmatch(
        r"stopped at step (\d+) of 600: the runs so far are kept, add --resume to go on", err.splitlines()[-1]
    )
    assert said, err
    assert out == ""
    assert call("runs", "--store", str(tmp_path), "--json").json["runs"][0]["step"] == int(said[1])
    refused = call(*words)
    assert refused.code == 2
    assert f"is stopped at step {said[1]} of 600" in refused.error
    resumed = call(*words, "--resume", "--json")
    assert resumed.code == 0, resumed.err
    assert resumed.json["runs"][0]["step"] == 600


def test_ctrl_c_while_the_commands_are_loaded_ends_in_one_line(environment):
    code = (
        "import os, signal, sys; from ordinate.__main__ import main\n"
        "class Press:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'ordinate.app.cli.main': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Press())\n"
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "tasks"],
        capture_output=True,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_what_an_interrupt_leaves_is_said_behind_options_too(call, monkeypatch):
    from ordinate.app.cli import main

    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "_run", interrupted)
    assert "add --resume to go on" in call("--plugin", "own.py", "train", "own.toml").error
    assert call("bench").error == "interrupted"


def test_a_run_that_was_stopped_is_refused_then_resumed(call, recipe, tmp_path, monkeypatch):
    from ordinate.lab.training import loop

    advance = loop._Training._advance

    def stop(training):
        if training.step == 10:
            raise KeyboardInterrupt
        return advance(training)

    out = ("--out", tmp_path / "runs")
    with monkeypatch.context() as patch:
        patch.setattr(loop._Training, "_advance", stop)
        assert call("train", recipe, *out).code == 130
    again = call("train", recipe, *out)
    assert again.code == 2
    assert "add --resume to go on" in again.error
    resumed = call("train", recipe, *out, "--resume", "--json").json
    whole = call("train", recipe, "--out", tmp_path / "whole", "--json").json
    assert resumed["runs"][0]["scores"] == whole["runs"][0]["scores"]
    assert "nothing was left to train" in call("train", recipe, *out).err


def test_reading_only_the_first_line_is_quiet(environment):
    command = f"{sys.executable} -m ordinate sample sum --count 2000 | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment)
    assert done.stderr == ""


def test_a_closed_pipe_is_quiet(environment):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "ordinate", "tasks", "--json"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parents[3].glob("recipes/*.toml")), ids=lambda p: p.stem
)
def test_the_recipes_of_the_repository_train(call, path, tmp_path):
    answer = call(
        "train", path, "--set", "training.steps=1", "--set", "evaluation.count=8", "--out", tmp_path
    )
    assert answer.code == 0, answer.err
    assert "one seed, no verdict" in answer.out


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("ordinate tr", ["train"]),
        ("ordinate train --resu", ["--resume"]),
        ("ordinate construct ", ["adaptive", "fixed"]),
        (
            "ordinate tarin --",
            ["--help", "--install-completion", "--plugin", "--show-completion", "--version"],
        ),
    ],
)
def test_a_shell_that_asks_is_told_how_words_can_end(environment, typed, offered):
    asked = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" ")), "_ORDINATE_COMPLETE": "complete_bash"}
    command = [sys.executable, "-m", "ordinate"]
    done = subprocess.run(command, capture_output=True, text=True, env={**environment, **asked})
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == offered


def test_the_help_has_headings_with_every_command_under_one_of_them(call):
    told = re.split(r"─ (Start|Train|Look|Reproduce|Build) ─", call("--help").out)
    assert told[1::2] == ["Start", "Train", "Look", "Reproduce", "Build"]
    listed = [word for part in told[2::2] for word in re.findall(r"^│ ([a-z]+) ", part, re.MULTILINE)]
    assert sorted(listed) == sorted(root.commands)
    assert "Commands" not in told[0]
