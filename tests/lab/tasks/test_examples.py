"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ordinate.lab.tasks

MODULES = [
    module.name for module in pkgutil.walk_packages(ordinate.lab.tasks.__path__, "ordinate.lab.tasks.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
