"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ordinate.lab.explain

MODULES = [
    module.name for module in pkgutil.walk_packages(ordinate.lab.explain.__path__, "ordinate.lab.explain.")
]
DRAWN = ["ordinate.lab.report.classes", "ordinate.lab.report.explanation"]


@pytest.mark.parametrize("name", [*MODULES, *DRAWN])
def test_examples_of(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
