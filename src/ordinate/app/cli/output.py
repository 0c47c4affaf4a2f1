"""What commands print: a result, as one JSON document or as tables and lines for a person."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, NoReturn

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text
from typing_extensions import override

from ordinate.app.cli.failures import FAILED, harmless
from ordinate.app.cli.options import Json

WIDTH = 400
"""Columns for a file or a pipe, where nothing has to fit a window."""

SHORT = 20
"""Characters of a cell that stay on one line."""
GAP = 3
"""Columns between two of a table."""

_NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?%?|n/a|∞|-∞|failed|")


@dataclass(frozen=True)
class Table:
    """A table for a person."""

    headers: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""


@dataclass(frozen=True)
class Result:
    """What a command found: a document for --json, or a function that makes it, and tables and lines for a person.

    Only one of them is printed, so that `shown` is best a generator. A result that `failed` ends with exit code 1.
    """

    document: Any
    shown: Iterable[Table | str] = ()
    failed: bool = False

    def print(self, *, json: bool) -> None:
        """Write it to stdout."""
        if json:
            from ordinate.lab.runs.plain import to_json

            document = self.document() if callable(self.document) else self.document
            sys.stdout.write(to_json(document, indent=2) + "\n")
        else:
            show(self.shown)


def show(parts: Iterable[Table | str]) -> None:
    """Print tables and lines for a person."""
    for part in parts:
        if isinstance(part, Table):
            print_table(part)
        else:
            say(part)


def command(function: Callable[..., Result | None]) -> Callable[..., None]:
    """A function as a command: it has the option --json, and the result that it returns is printed.

    A function that has to know takes `json` itself.
    """
    signature = inspect.signature(function)
    takes = "json" in signature.parameters

    @wraps(function)
    def run(*, json: bool, **given: Any) -> None:
        result = function(**given, json=json) if takes else function(**given)
        if result is not None:
            result.print(json=json)
            if result.failed:
                raise typer.Exit(FAILED)

    if not takes:
        option = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json)
        run.__signature__ = signature.replace(parameters=[*signature.parameters.values(), option])  # type: ignore[attr-defined]
        run.__annotations__ = {**function.__annotations__, "json": Json}
    return run


class PlainConsole(Console):
    """A console that leaves a closed pipe to the caller."""

    @override
    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return a console for stdout or stderr as they are now."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else WIDTH
    return PlainConsole(
        stderr=stderr, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )


def print_table(table: Table) -> None:
    """Print a table; columns of numbers are set to the right. One too wide comes in parts."""
    headers = [harmless(header) for header in table.headers]
    cells = [["" if value is None else harmless(str(value)) for value in row] for row in table.rows]
    numeric = [
        bool(cells) and all(_NUMBER.fullmatch(c) for c in column) for column in zip(*cells, strict=True)
    ]
    numeric = numeric or [False] * len(headers)
    least = [min(SHORT, max(map(len, column))) for column in zip(headers, *cells, strict=True)]
    keys = 1 + next((place for place, number in enumerate(numeric) if not number), 0)
    screen = console()
    for number, places in enumerate(in_parts(least, screen.width, keys)):
        part = RichTable(
            title=None if number else table.title or None,
            title_justify="left",
            title_style="bold",
            box=SIMPLE_HEAD,
            pad_edge=False,
        )
        for place in places:
            side: Literal["left", "right"] = "right" if numeric[place] else "left"
            part.add_column(Text(headers[place]), justify=side, overflow="fold", min_width=least[place])
        for row in cells:
            part.add_row(*(Text(row[place]) for place in places))
        screen.print(part)


def in_parts(widths: Sequence[int], window: int, keys: int) -> list[list[int]]:
    """Columns that fit into a window together, each time behind the first `keys` of them; one at least.

    >>> in_parts([4, 10, 10, 10], 43, 1), in_parts([4, 10, 10, 10], 42, 1)
    ([[0, 1, 2, 3]], [[0, 1, 2], [0, 3]])
    """
    first = list(range(keys))
    parts = [first]
    for place in range(keys, len(widths)):
        if parts[-1] != first and sum(widths[p] + GAP for p in (*parts[-1], place)) > window + GAP:
            parts.append(first)
        parts[-1] = [*parts[-1], place]
    return parts


def say(text: str = "") -> None:
    """Print lines for a person on stdout, as they are."""
    console().print(_lines(text), soft_wrap=True)


def note(text: str) -> None:
    """Print lines on stderr, beside what stdout holds."""
    console(stderr=True).print(_lines(text), soft_wrap=True)


def _lines(text: str) -> str:
    return "\n".join(map(harmless, text.split("\n")))


def counted(number: int | float, thing: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "job"), counted(3, "job"), counted(0.5, "day")
    ('1 job', '3 jobs', '0.5 days')
    """
    return f"{number:g} {thing}{'' if number == 1 else 's'}"
