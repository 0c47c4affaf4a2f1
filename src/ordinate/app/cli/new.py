"""`ordinate new`: the first files of something of your own: a task that works, a test of it and a recipe."""

import re
import sys
from keyword import iskeyword
from pathlib import Path
from typing import Annotated

import typer

from ordinate.app.cli.output import Result
from ordinate.errors import OrdinateError, nearest

WHATS = ("task",)
USED = ("torch", "pytest", "ordinate")
"""Modules that the files import."""


def new(
    what: Annotated[str, typer.Argument(metavar="task", help="What to begin: a task.")],
    name: Annotated[str, typer.Argument(help="Its name, such as running-range.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.")] = Path(),
) -> Result:
    """Write a task of your own that works, its test and a recipe, to be changed by you."""
    from ordinate.lab.runs import write_text
    from ordinate.lab.tasks import TASKS

    if what not in WHATS:
        raise OrdinateError(f"there is no new {what!r}: {nearest(what, WHATS)}")
    if name in TASKS:
        raise OrdinateError(f"a task is called {name!r} already: choose another name")
    texts = {out / file: text for file, text in files(name).items()}
    for path in texts:
        if path.exists():
            raise OrdinateError(f"{path} is there already: choose another name or --out")
    for path, text in texts.items():
        write_text(path, text)
    module = next(iter(texts))
    lines = [*map(str, texts), f"Try: ordinate --plugin {module} sample {name}"]
    return Result({"files": [str(path) for path in texts]}, lines)


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
    module = name.replace("-", "_")
    if iskeyword(module) or module in sys.stdlib_module_names or module in USED:
        raise OrdinateError(
            f"{name!r} is a word of Python or a module it needs: write another name, as my-{name}"
        )
    texts = {f"{module}.py": TASK, f"test_{module}.py": TEST, f"{module}.toml": RECIPE}
    words = {"NAME": name, "MODULE": module}
    return {file: re.sub(r"@(\w+)@", lambda found: words[found[1]], text) for file, text in texts.items()}


TASK = '''"""The task @NAME@: numbers in, one number out for each of them.

    ordinate --plugin @MODULE@.py sample @NAME@
    ordinate --plugin @MODULE@.py train @MODULE@.toml
    ordinate --plugin @MODULE@.py discover @NAME@
"""

import torch

from ordinate.lab.tasks import task


@task("@NAME@")
def @MODULE@(x):
    """Largest minus smallest number so far: 3 1 4 gives 0 2 3. Write what yours computes."""
    # x holds a whole batch, shape [batch, token]; the exact answers have the same shape.
    return torch.cummax(x, dim=1).values - torch.cummin(x, dim=1).values
'''

TEST = '''"""The task @NAME@ against a slow, obvious answer; `pytest test_@MODULE@.py`."""

import pytest
import torch
from @MODULE@ import @MODULE@


def slow(numbers):
    """The answer by other means: one sample, one place after the other."""
    return [max(numbers[: i + 1]) - min(numbers[: i + 1]) for i in range(len(numbers))]


@pytest.mark.parametrize("length", [1, 2, 8, 50])
def test_answers_are_exact(length):
    batch = @MODULE@().sample(100, generator=torch.Generator().manual_seed(0), length=length)
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
