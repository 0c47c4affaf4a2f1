"""The library in front stands alone."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import torch

from ordinate.lab.runs import health

ROOT = Path(__file__).parent.parent
CORE = ("coordinates", "kinds", "relations", "encodings", "attention", "models")


def test_core_loads_no_task_and_nothing_else_of_the_rooms_behind_it():
    imports = ", ".join(f"ordinate.{module}" for module in CORE)
    show = "print(*(name for name in sys.modules if name.startswith('ordinate.')))"
    script = f"import sys, {imports}; {show}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "ordinate.models" in loaded
    assert {name.split(".")[1] for name in loaded} <= {*CORE, "errors"}


def test_no_version_of_torch_is_too_new():
    """What keeps CUDA packages away from a laptop is a constraint of environments made here, not of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "torch>=2.6" in project["dependencies"]
    assert "torch<" in (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "PIP_CONSTRAINT" in (ROOT / "Makefile").read_text(encoding="utf-8")


@pytest.mark.parametrize(("version", "status"), [("2.5.1", "warn"), ("2.13.0+cpu", "ok"), ("2.99.0", "warn")])
def test_a_version_of_torch_that_was_never_tried_is_said(monkeypatch, version, status):
    monkeypatch.setattr(torch, "__version__", version)
    found = health._torch()
    assert (found.status, found.found) == (status, version)
