"""What commands print: one JSON document, or text and tables for a person."""

import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ordinate.runs.plain import to_json

WIDTH = 400
"""Columns for a file or a pipe, where nothing has to fit a window."""

_NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?%?|n/a|∞|-∞|failed|")


class PlainConsole(Console):
    """A console that leaves a closed pipe to the caller."""

    def on_broken_pipe(self) -> NoReturn:
        """Nobody reads any more."""
        raise BrokenPipeError


def console(*, stderr: bool = False) -> Console:
    """Return a console for stdout or stderr as they are now."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS") else WIDTH
    return PlainConsole(
        stderr=stderr, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False
    )


def print_json(document: Any) -> None:
    """Write one document; numbers that are not finite are written as text."""
    sys.stdout.write(to_json(document, indent=2) + "\n")


def print_table(headers: Sequence[str], rows: Sequence[Sequence[object]], *, title: str = "") -> None:
    """Print a table; columns of numbers are set to the right."""
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    table = Table(
        title=title or None, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False
    )
    for place, header in enumerate(headers):
        numeric = bool(cells) and all(_NUMBER.fullmatch(row[place]) for row in cells)
        table.add_column(Text(header), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    console().print(table)


def say(text: str = "") -> None:
    """Print a line for a person on stdout, as it is."""
    console().print(text, soft_wrap=True)


def note(text: str) -> None:
    """Print a line on stderr, beside what stdout holds."""
    console(stderr=True).print(text, soft_wrap=True)


def counted(number: int | float, thing: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "job"), counted(3, "job"), counted(0.5, "day")
    ('1 job', '3 jobs', '0.5 days')
    """
    return f"{number:g} {thing}{'' if number == 1 else 's'}"
