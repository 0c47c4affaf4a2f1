"""The files that `ordinate new task` writes: a task that works, a test of it and a recipe."""

import re

from ordinate.errors import OrdinateError


def files(name: str) -> dict[str, str]:
    """The files of a new task by name.

    >>> sorted(files("running-range"))
    ['running_range.py', 'running_range.toml', 'test_running_range.py']
    >>> files("Big Range")
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: 'Big Range' is no name of a task: write small letters and hyphens, as running-range
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise OrdinateError(
            f"{name!r} is no name of a task: write small letters and hyphens, as running-range"
        )
    module, kind = name.replace("-", "_"), "".join(part.title() for part in name.split("-"))
    texts = {f"{module}.py": TASK, f"test_{module}.py": TEST, f"{module}.toml": RECIPE}
    words = {"NAME": name, "MODULE": module, "KIND": kind}
    return {file: re.sub(r"@(\w+)@", lambda found: words[found[1]], text) for file, text in texts.items()}


TASK = '''"""The task @NAME@: numbers in, one number out for each of them.

    ordinate --plugin @MODULE@.py sample @NAME@
    ordinate --plugin @MODULE@.py train @MODULE@.toml
    ordinate --plugin @MODULE@.py discover @NAME@
"""

from typing import ClassVar

import torch

from ordinate.lab.tasks.numbers import Numbers


class @KIND@(Numbers):
    """The largest minus the smallest number so far: 3 1 4 gives 0 2 3. Write what yours computes."""

    name: ClassVar[str] = "@NAME@"
    summary: ClassVar[str] = "largest minus smallest number so far"

    def reference(self, inputs, coordinates=None):
        """The exact answers of a whole batch, shape (batch, token, 1) as the inputs."""
        return torch.cummax(inputs, dim=1).values - torch.cummin(inputs, dim=1).values
'''

TEST = '''"""The task @NAME@ against a slow, obvious answer; `pytest test_@MODULE@.py`."""

import pytest
import torch
from @MODULE@ import @KIND@


def slow(numbers):
    """The answer by other means: one sample, one place after the other."""
    return [max(numbers[: i + 1]) - min(numbers[: i + 1]) for i in range(len(numbers))]


@pytest.mark.parametrize("length", [1, 2, 8, 50])
def test_answers_are_exact(length):
    batch = @KIND@().sample(100, generator=torch.Generator().manual_seed(0), length=length)
    for numbers, answers in zip(batch.input[..., 0].tolist(), batch.target[..., 0].tolist(), strict=True):
        assert answers == pytest.approx(slow(numbers), abs=1e-6)
'''

RECIPE = """# A small model on the task @NAME@, tested on longer sequences and larger numbers than it has seen.
#
#   ordinate --plugin @MODULE@.py train @MODULE@.toml

name = "@NAME@"

[task]
name = "@NAME@"
length = 8

[model]
kind = "positional"

[training]
steps = 1000

[evaluation.axes]
scale = [1, 2, 10]
"""
