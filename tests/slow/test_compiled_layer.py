"""The cases of compiled_layer.py, in a process without the checks of shapes of tests: they cannot be compiled."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def test_attention_in_graphs():
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--noconftest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "pyproject.toml",
    ]
    done = subprocess.run(
        [*command, "--timeout=900", FOLDER / "compiled_layer.py"],
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
