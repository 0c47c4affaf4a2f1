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
from collections.abc import Iterable, Iterator, MutableMapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from pydantic import BaseModel

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind

VARIABLE = "ORDINATE_PLUGINS"
K = TypeVar("K", bound=Kind)

_FILES: set[str] = set()
"""Files of users, whose lines are named in errors."""


class Table(MutableMapping[str, type[K]]):
    """Kinds by name: those of this package, then those of plug-ins, which are loaded when somebody asks.

    >>> from ordinate.lab.tasks import TASKS, Task
    >>> issubclass(TASKS["sum"], Task)
    True
    """

    def __init__(self, base: type[K], group: str, kinds: Iterable[type[K]]) -> None:
        self._base, self._group = base, group
        self._known: dict[str, type[K]] = {kind.name: kind for kind in kinds}
        self._loaded: set[str] | None = None

    def __getitem__(self, name: str) -> type[K]:
        return self._all()[name]

    def __setitem__(self, name: str, kind: type[K]) -> None:
        self._known[name] = kind

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, type[K]]:
        if self._loaded is None:
            self._loaded = set()  # a plug-in may look at this table while it is loaded
            for kind, where in installed(self._group, self._base):
                self._add(kind, where)
        for path in [path for path in named_files() if path not in self._loaded]:
            self._loaded.add(path)
            for kind in _defined(load_file(path), self._base):
                self._add(kind, path)
        return self._known

    def _add(self, kind: type[K], where: str) -> None:
        if missing := [name for name in _facts(kind) if not hasattr(kind, name)]:
            raise OrdinateError(f"{where}: {kind.__name__} has no {missing[0]!r}: add {missing[0]} = ...")
        if self._known.setdefault(kind.name, kind) is not kind:
            raise OrdinateError(f"{where}: the name {kind.name!r} is taken: choose another one")


def named_files() -> list[str]:
    """The files of users that this process was told of."""
    return [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]


def name_files(paths: Iterable[Path]) -> None:
    """Tell this process, and those it starts, of files of users."""
    known = named_files()
    added = [str(path.resolve()) for path in paths]
    os.environ[VARIABLE] = os.pathsep.join([*known, *(path for path in added if path not in known)])


@cache
def run_file(path: str) -> ModuleType:
    """Run a user's file once; it can import its neighbours. What goes wrong in it is told with its line."""
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
    except OrdinateError as error:
        raise OrdinateError(f"{path}: {error}") from error
    except Exception as error:
        raise OrdinateError(blame(error) or f"{path}: {error}") from error
    return module


def load_file(path: str) -> ModuleType:
    """A user's file with a task or an encoding."""
    module = run_file(path)
    if not list(_defined(module, Kind)):
        raise OrdinateError(f"{path} holds no task and no encoding{_lacking(module)}")
    return module


def installed(group: str, base: type[K]) -> Iterator[tuple[type[K], str]]:
    """Kinds of installed packages, with where they are from; one that cannot be used is passed over with a warning."""
    for point in entry_points(group=group):
        where = f"plug-in {point.name} of {point.value}"
        try:
            yield _load_point(point, base), where
        except Exception as error:
            warnings.warn(f"{where} is passed over: {blame(error) or error}", stacklevel=2)


def _load_point(point: EntryPoint, base: type[K]) -> type[K]:
    kind = point.load()
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
    for name, value in vars(module).items():
        own = isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
        if own and not name.startswith("_") and not inspect.isabstract(value):
            yield value


def _lacking(module: ModuleType) -> str:
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Kind) and value.__module__ == module.__name__:
            return f" that can be made: {value.__name__} lacks {', '.join(sorted(value.__abstractmethods__))}"
    return ": define a class that derives from one of ordinate"


def _facts(kind: type[Kind]) -> list[str]:
    """What every kind says of itself."""
    return [
        name
        for parent in reversed(kind.__mro__)
        if issubclass(parent, Kind)
        for name, annotation in inspect.get_annotations(parent).items()
        if str(annotation).startswith("typing.ClassVar") and name not in dir(BaseModel)
    ]
