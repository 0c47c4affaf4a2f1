"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ordinate.programs

MODULES = [module.name for module in pkgutil.walk_packages(ordinate.programs.__path__, "ordinate.programs.")]


@pytest.mark.parametrize("name", [*MODULES, "ordinate.attention.table"])
def test_examples_of(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
