"""A page in a process of its own, as `ordinate serve` starts it."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Served:
    """The address of a page and its process."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])


@contextlib.contextmanager
def served(store: Path, results: Path | None = None) -> Iterator[Served]:
    """Start a page at a free port, and stop it after the block."""
    command = [sys.executable, "-m", "ordinate", "serve", "--port", "0", "--json", "--store", str(store)]
    command += [] if results is None else ["--results", str(results)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    text = ""
    while not text.rstrip().endswith("}"):
        line = process.stdout.readline()
        assert line, f"the page did not start: {text}"
        text += line
    try:
        yield Served(json.loads(text)["url"], process)
    finally:
        process.terminate()
        process.wait(timeout=20)
        process.stdout.close()
