"""The examples in the docstrings are true."""

import doctest
import importlib
from pathlib import Path

import pytest

from ordinate.encodings import ENCODINGS
from ordinate.lab.tasks import TASKS

SOURCE = Path(__file__).parent.parent / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.fixture
def as_it_was():
    """Tasks and encodings that an example defines are forgotten."""
    before = [(table, dict(table)) for table in (TASKS, ENCODINGS)]
    yield
    for table, known in before:
        for name in set(table) - set(known):
            del table[name]


@pytest.mark.usefixtures("as_it_was")
@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
