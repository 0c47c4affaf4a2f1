"""Shape annotations are checked at run time in every test; hypothesis is deterministic.

`HYPOTHESIS_PROFILE=thorough` draws many more examples, new ones every time.
"""

import gc
import os
import shutil
import sys
from pathlib import Path

os.environ.pop("COLUMNS", None)  # a parallel runner sets it for its workers, and tables would be folded

# Stores wait for the disk after every write, which is a third of the time of their tests: memory has no such wait.
MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 2**31:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

from jaxtyping import install_import_hook

# Before anything of ordinate is imported: every annotated call in a test checks its shapes.
install_import_hook("ordinate", "beartype.beartype")

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", settings.get_profile("ci"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

torch.set_num_threads(1)


def pytest_collection_finish():
    """What is imported stays: looking through it for garbage over and over is a tenth of the time."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True, scope="session")
def default_costs():
    """Paths of attention are those of a machine on which nothing was measured."""
    from ordinate.attention.costs import DEFAULT, in_force

    with in_force(DEFAULT):
        yield


TRACED = set()
"""Tests of which a case was run with the tracer of coverage on."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Of the cases of a test only the first is traced: tracing makes a test take up to three times as long."""
    tracer, test = sys.gettrace(), (item.path, getattr(item, "originalname", item.name))
    if test in TRACED:
        sys.settrace(None)
    TRACED.add(test)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)
