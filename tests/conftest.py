"""Shape annotations are checked at run time in every test; hypothesis is deterministic.

`HYPOTHESIS_PROFILE=thorough` draws many more examples, new ones every time.
"""

import os
import shutil
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


def pytest_collection_modifyitems(items):
    """Tracing lines costs half as much again as the tests; of the cases of a test only the first is traced."""
    traced = set()
    for item in items:
        test = (item.path, getattr(item, "originalname", item.name))
        if test in traced:
            item.add_marker(pytest.mark.no_cover)
        traced.add(test)
