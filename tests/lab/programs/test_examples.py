"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ordinate.lab.programs

MODULES = [
    module.name for module in pkgutil.walk_packages(ordinate.lab.programs.__path__, "ordinate.lab.programs.")
]


@pytest.mark.parametrize("name", [*MODULES, "ordinate.attention.table"])
def test_examples_of(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
