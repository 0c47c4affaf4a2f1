"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ordinate.explain

MODULES = [module.name for module in pkgutil.walk_packages(ordinate.explain.__path__, "ordinate.explain.")]
DRAWN = ["ordinate.figures.classes", "ordinate.figures.explanation"]


@pytest.mark.parametrize("name", [*MODULES, *DRAWN])
def test_examples_of(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
