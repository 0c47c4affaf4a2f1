"""What commands print: one JSON document, or text and tables for a person."""

import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Literal, NoReturn

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ordinate.app.cli.failures import harmless
from ordinate.lab.runs.plain import to_json

WIDTH = 400
"""Columns for a file or a pipe, where nothing has to fit a window."""

SHORT = 20
"""Characters of a cell that stay on one line."""
GAP = 3
"""Columns between two of a table."""

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
    """Print a table; columns of numbers are set to the right. One too wide comes in parts."""
    headers = [harmless(header) for header in headers]
    cells = [["" if value is None else harmless(str(value)) for value in row] for row in rows]
    numeric = [
        bool(cells) and all(_NUMBER.fullmatch(c) for c in column) for column in zip(*cells, strict=True)
    ]
    numeric = numeric or [False] * len(headers)
    least = [min(SHORT, max(map(len, column))) for column in zip(headers, *cells, strict=True)]
    keys = 1 + next((place for place, number in enumerate(numeric) if not number), 0)
    screen = console()
    for number, places in enumerate(in_parts(least, screen.width, keys)):
        table = Table(
            title=None if number else title or None,
            title_justify="left",
            title_style="bold",
            box=SIMPLE_HEAD,
            pad_edge=False,
        )
        for place in places:
            side: Literal["left", "right"] = "right" if numeric[place] else "left"
            table.add_column(Text(headers[place]), justify=side, overflow="fold", min_width=least[place])
        for row in cells:
            table.add_row(*(Text(row[place]) for place in places))
        screen.print(table)


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
