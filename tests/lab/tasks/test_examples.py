"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ordinate.lab.tasks
from ordinate.lab.tasks import TASKS

MODULES = [
    module.name for module in pkgutil.walk_packages(ordinate.lab.tasks.__path__, "ordinate.lab.tasks.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    known = dict(TASKS)
    assert doctest.testmod(importlib.import_module(name)).failed == 0
    for task in set(TASKS) - set(known):
        del TASKS[task]
