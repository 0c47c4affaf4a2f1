"""A recipe that trains in a moment, and two ways in: the same `main` in this process, and a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ordinate.app.cli.main import main

TINY = """
name = "tiny"
[task]
name = "sum"
length = 4
[model]
kind = "positional"
width = 8
hidden = 8
layers = 1
[training]
steps = 20
batch = 16
log_every = 5
[evaluation]
count = 40
axes = {scale = [2, 10]}
"""


COMMANDS = (
    *("tasks", "encodings", "models", "relations", "sample", "discover", "advise", "train", "evaluate"),
    *("runs", "explain", "reproduce", "report", "compile", "verify", "construct", "new", "serve", "bench"),
    *("doctor", "export", "plan", "prove", "study"),
)


@dataclass(frozen=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))

    @property
    def error(self) -> str:
        """The one line of an error."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run a command in this process."""

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Answer(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """Variables for a process of its own: one thread, a wide terminal."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


@pytest.fixture
def ordinate(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Answer]:
    """Run a command as a person does, in a process and a folder of its own."""

    def run(*arguments: object) -> Answer:
        command = [sys.executable, "-m", "ordinate", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120, check=False
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recipes") / "tiny.toml"
    path.write_text(TINY)
    return path


@pytest.fixture(scope="session")
def store(recipe: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with two seeds of one recipe and one seed of another, all done."""
    folder = tmp_path_factory.mktemp("store")
    assert main(["train", str(recipe), "--seeds", "2", "--out", str(folder)]) == 0
    changes = ["--set", "name=other", "--set", "model.kind=standard", "--set", "training.batch=8"]
    assert main(["train", str(recipe), *changes, "--seed", "5", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(params=COMMANDS)
def command(request: pytest.FixtureRequest) -> str:
    """The name of each command in turn."""
    return str(request.param)
