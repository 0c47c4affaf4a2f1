"""Your own tasks and encodings: from a Python file that is named, or from an installed package.

A file takes part where it is named, with `ordinate --plugin my_task.py ...` or in `ORDINATE_PLUGINS` (several are
separated as in `PATH`). It is never run because a recipe or a stored run asks for it. A package takes part by an entry
point:

    [project.entry-points."ordinate.tasks"]
    reverse = "my_package:Reverse"
"""

import inspect
import os
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, Table

VARIABLE = "ORDINATE_PLUGINS"
K = TypeVar("K", bound=Kind)

_FILES: set[str] = set()
"""Files of users, whose lines are named in errors."""


def load(*files: Path | str) -> None:
    """Let tasks and encodings of one's own take part: of `files`, of `ORDINATE_PLUGINS`, of installed packages.

    Called by the command line before a command, and by workers before a job; in Python, by whoever wants it. Files are
    named to processes that are started from this one, too. Calling it again is harmless.

    >>> load("running_range.py")                                # doctest: +SKIP
    >>> make_task("running-range", length=8)                    # doctest: +SKIP
    """
    _load_installed()
    paths = dict.fromkeys(str(Path(file).resolve()) for file in (*named_files(), *files))
    for path in paths:
        module = load_file(path)
        for table in _tables().values():
            for kind in _defined(module, table.base):
                table.add(kind, path)
    if paths:
        os.environ[VARIABLE] = os.pathsep.join(paths)


def _tables() -> dict[str, Table[Any]]:
    """The tables that a plug-in may add to, by the group of entry points that declares it."""
    from ordinate.encodings import ENCODINGS
    from ordinate.lab.tasks import TASKS

    return {"ordinate.tasks": TASKS, "ordinate.encodings": ENCODINGS}


@cache
def _load_installed() -> None:
    for group in ("ordinate.tasks", "ordinate.encodings"):
        if points := entry_points(group=group):
            load_points(points, _tables()[group])


def load_points(points: Iterable[EntryPoint], table: Table[Any]) -> None:
    """Add what installed packages declare to a table; what cannot be used is passed over with a warning."""
    for point in points:
        where = f"plug-in {point.name} of {point.value}"
        try:
            table.add(_load_point(point, table.base), where)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a package may also say sys.exit()
            warnings.warn(
                f"{where} is passed over: {blame(error) or str(error) or type(error).__name__}", stacklevel=2
            )


def named_files() -> list[str]:
    """Files that `ORDINATE_PLUGINS` names, those that were loaded in this process included."""
    return [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]


@cache
def run_file(path: str) -> ModuleType:
    """Run a user's file once; it can import its neighbours. An error in it names its line."""
    if not Path(path).is_file() or not path.endswith(".py"):
        raise OrdinateError(f"{path} is not a Python file: name one that ends in .py")
    name = f"ordinate_plugin_{Path(path).stem}"
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    sys.path.append(str(Path(path).resolve().parent))
    _FILES.add(path)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except OrdinateError as error:
        raise OrdinateError(str(error) if path in str(error) else f"{path}: {error}") from error
    except BaseException as error:
        raise OrdinateError(blame(error) or f"{path}: {error}") from error
    return module


def load_file(path: str) -> ModuleType:
    """A user's file with a task or an encoding."""
    module = run_file(path)
    if not list(_defined(module, Kind)):
        raise OrdinateError(f"{path} holds no task and no encoding{_lacking(module)}")
    return module


def _load_point(point: EntryPoint, base: type[K]) -> type[K]:
    found = point.load()
    kind = getattr(found, "Settings", found)
    if not (isinstance(kind, type) and issubclass(kind, base)):
        raise OrdinateError(f"it is no {base.__name__}")
    _FILES.add(inspect.getfile(kind))
    return kind


def blame(error: BaseException) -> str | None:
    """Where a user's file is at fault: file, line, what happened; None where no line of one is involved."""
    if isinstance(error, SyntaxError) and error.filename in _FILES:
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in _FILES:
            said = f"{type(error).__name__}: {error}".rstrip(": ")
            place = "" if frame.name == "<module>" else f", in {frame.name}"
            return f"{frame.filename}, line {frame.lineno}{place}: {said}"
    return None


def _defined(module: ModuleType, base: type[K]) -> Iterator[type[K]]:
    """What a module defines itself and can be made."""
    for name, defined in vars(module).items():
        value = getattr(defined, "Settings", defined)  # of an encoding: what recipes hold
        own = isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
        if own and not name.startswith("_") and not inspect.isabstract(value):
            yield value


def _lacking(module: ModuleType) -> str:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Kind) and value.__module__ == module.__name__:
            return f" that can be made: {value.__name__} lacks {', '.join(sorted(value.__abstractmethods__))}"
    return ": define a function under @task, or a class that derives from one of ordinate"
