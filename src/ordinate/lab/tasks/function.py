"""A task from one function of the inputs."""

import inspect
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Bool
from pydantic import create_model
from pydantic.errors import PydanticUserError
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Symbols
from ordinate.lab.tasks.numbers import Column, Numbers
from ordinate.lab.tasks.registry import TASKS
from ordinate.lab.tasks.strings import VariableStrings

CHECKED_ROWS = 8
"""Samples, at most half of a batch, that a function answers again when it is first called, to compare the answers."""


def task(
    name: str, *, symbols: int | None = None, answers: int | None = None
) -> Callable[[Callable[..., Tensor]], type[Any]]:
    """Make a task of a function of the inputs, known by this name to recipes, checkpoints and every command.

    The function is given real numbers, shape [batch, token], and returns one number for each of them, in the same
    shape. With `symbols` it is given whole numbers below it, and returns whole numbers below `answers` (by default
    `symbols` too). Each row is answered on its own, by the inputs alone. The first line of the docstring says in
    listings what the task computes; further parameters with defaults are options of the task.

    >>> @task("smooth")
    ... def smooth(x, share: float = 0.5):
    ...     '''A share of a number, and the rest of the one before it.'''
    ...     return share * x + (1 - share) * torch.nn.functional.pad(x, (1, 0))[:, :-1]
    >>> smooth(length=3, share=0.25).parse("4 0 8").target.flatten().tolist()
    [1.0, 3.0, 2.0]
    >>> @task("swap", symbols=4)
    ... def swap(x):
    ...     '''0 and 1 change places, and so do 2 and 3.'''
    ...     return x ^ 1
    >>> swap().parse("0 1 3").target.tolist()
    [[1, 0, 2]]
    """
    if not isinstance(name, str):
        raise OrdinateError('a task needs a name: write @task("smooth") over its function')
    if symbols is None and answers is not None:
        raise OrdinateError(
            f'answers={answers} counts symbols: write @task("{name}", symbols=..., answers=...)'
        )
    for word, value in (("symbols", symbols), ("answers", answers)):
        if value is not None and value < 2:
            raise OrdinateError(f"{word} must be at least 2, got {value}: write {word}=2")

    def decorate(function: Callable[..., Tensor]) -> type[Any]:
        base = FunctionOfNumbers if symbols is None else FunctionOfSymbols
        options = _options(function, base)
        facts: dict[str, Any] = {
            "name": name,
            "summary": (inspect.getdoc(function) or name).splitlines()[0].removesuffix("."),
            "function": Checked(function, tuple(options), symbols and (answers or symbols)),
        }
        if symbols is not None:
            facts |= {"symbols": symbols, "answers": answers or symbols}
        try:
            kind: type[Any] = create_model(
                function.__name__,
                __base__=base,
                __module__=function.__module__,
                __doc__=inspect.getdoc(function) or f"The task {name}.",
                __cls_kwargs__=facts,
                **options,
            )
        except PydanticUserError as error:
            raise OrdinateError(
                f"{_place(function)}: {_first_line(error)} Give the option a type such as int, float or str"
            ) from None
        kind.__qualname__ = function.__qualname__
        _register(kind, function)
        return kind

    return decorate


@dataclass(frozen=True)
class Checked:
    """A user's function; what is wrong with its answers is said in one line with its file and line."""

    function: Callable[..., Tensor]
    options: tuple[str, ...]
    symbols: int | None
    """Symbols that an answer may be; None for numbers."""
    trusted: set[str] = field(default_factory=set)
    """Options and lengths with which it was seen to depend on its inputs alone."""

    def __call__(self, x: Tensor, task: Task) -> Tensor:
        """The answers to a batch."""
        options = {name: getattr(task, name) for name in self.options}
        answers = self._answer(x, options)
        known = f"{options} {x.shape[1]} {len(x) > 1}"
        if known not in self.trusted:
            some = x[: min(CHECKED_ROWS, (len(x) + 1) // 2)]
            again, once_more = (self._answer(some, options) for _ in range(2))
            if not _same(again, once_more):
                raise self._wrong(
                    "it answers the same inputs differently when asked again: use nothing but the inputs, "
                    "no random numbers"
                )
            if not _same(answers[: len(some)], again):
                raise self._wrong(
                    "its answers to a sample change with the rest of the batch: answer each row on its own"
                )
            self.trusted.add(known)
        return answers

    def _answer(self, x: Tensor, options: dict[str, Any]) -> Tensor:
        try:
            answers = self.function(x.clone(), **options)
        except Exception as error:
            said = _first_line(error)
            kind = "" if isinstance(error, OrdinateError) else f"{type(error).__name__}: "
            raise OrdinateError(f"{_place(self.function, error)}: {kind}{said}") from error
        if not isinstance(answers, Tensor):
            raise self._wrong(
                f"it returns {type(answers).__name__}: return a tensor of shape {list(x.shape)}"
            )
        if answers.shape != x.shape:
            raise self._wrong(
                f"it returns shape {list(answers.shape)} for inputs of shape {list(x.shape)}: "
                "return one answer for each of them"
            )
        if self.symbols is None:
            answers = answers.to(x)
            if not answers.isfinite().all():
                raise self._wrong("it returns a number that is not finite: return finite ones for all inputs")
            return answers
        if answers.is_floating_point() or answers.is_complex():
            raise self._wrong(f"it returns {answers.dtype}: return whole numbers below {self.symbols}")
        if not 0 <= answers.min() <= answers.max() < self.symbols:
            raise self._wrong(
                f"it returns symbols from {answers.min()} to {answers.max()}: return 0 to {self.symbols - 1}, or "
                f"write answers={int(answers.max()) + 1} beside symbols"
            )
        return answers.to(x)

    def _wrong(self, what: str) -> OrdinateError:
        return OrdinateError(f"{_place(self.function)}: {what}")


class FunctionOfNumbers(Numbers):
    """Numbers, drawn as those of the library are, answered by a user's function."""

    function: ClassVar[Checked]

    @override
    def reference(self, inputs: Column, coordinates: Coordinates | None = None) -> Column:
        return self.function(inputs[..., 0], self)[..., None]


class FunctionOfSymbols(VariableStrings, family="strings"):
    """Symbols, uniform and independent, answered by a user's function."""

    function: ClassVar[Checked]
    symbols: ClassVar[int]
    answers: ClassVar[int]

    @property
    @override
    def features(self) -> int:
        return self.symbols

    @property
    @override
    def outputs(self) -> int:
        return self.answers

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token 1"]:
        return torch.ones(len(coordinates), 1, dtype=torch.bool)

    @override
    def reference(self, inputs: Symbols, coordinates: Coordinates | None = None) -> Symbols:
        return self.function(inputs, self)


def _same(one: Tensor, other: Tensor) -> bool:
    """Whether answers are the same but for rounding, which batches of other sizes may change."""
    return bool(((one - other).abs() <= 1e-5 * one.abs().max()).all())


def _options(function: Callable[..., Tensor], base: type[Task]) -> dict[str, Any]:
    """The parameters behind the first one, as fields of a task: types and defaults."""
    try:
        first, *others = inspect.signature(function, eval_str=True).parameters.values()
    except ValueError:
        raise OrdinateError(
            f"{_place(function)}: it takes no inputs: write def {function.__name__}(x)"
        ) from None
    except NameError as error:
        raise OrdinateError(f"{_place(function)}: {_first_line(error)}") from None
    for parameter in (first, *others):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise OrdinateError(f"{_place(function)}: {parameter} is no option: name each of them")
    for parameter in others:
        if parameter.default is parameter.empty:
            raise OrdinateError(
                f"{_place(function)}: the option {parameter.name!r} has no default: write {parameter.name}=..."
            )
        if hasattr(base, parameter.name) or parameter.name in base.model_fields:
            raise OrdinateError(
                f"{_place(function)}: every task has its own {parameter.name!r}: give the option another name"
            )
    return {p.name: (type(p.default) if p.annotation is p.empty else p.annotation, p.default) for p in others}


def _register(kind: type[Any], function: Callable[..., Tensor]) -> None:
    """Make the task known; a function that is defined again, in a notebook or a second module, replaces itself."""
    before = TASKS.get(kind.name)
    if before is not None and issubclass(before, FunctionOfNumbers | FunctionOfSymbols):
        old = before.function.function
        same_file = old.__code__.co_filename == function.__code__.co_filename
        if old.__qualname__ == function.__qualname__ and (same_file or old.__module__ == function.__module__):
            del TASKS[kind.name]
    TASKS.add(kind, _place(function))


def _place(function: Callable[..., Tensor], error: BaseException | None = None) -> str:
    """File and line of a function, or of the line in its file at which it failed."""
    path = function.__code__.co_filename
    if error is not None:
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            if frame.filename == path:
                return f"{path}, line {frame.lineno}, in {frame.name}"
    try:
        lines, line = inspect.getsourcelines(function)
        line += next(i for i, text in enumerate(lines) if text.lstrip().startswith("def "))
    except (OSError, StopIteration):
        line = function.__code__.co_firstlineno
    return f"{Path(path)}, line {line}, in {function.__name__}"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0]
