"""Refusals: a program that cannot be compiled is answered with its line of code and the reason."""

import linecache
import sys
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from ordinate.errors import OrdinateError

_PROGRAMS = __name__.removesuffix(".language.refusals")
_MACHINERY = (
    *(f"{_PROGRAMS}.{part}" for part in ("language", "compiler", "machine", "program", "verify")),
    *("jaxtyping", "beartype"),  # wrappers that check shapes in tests
)


@dataclass(frozen=True)
class Line:
    """A line of a program."""

    file: str
    number: int
    text: str

    def __str__(self) -> str:
        code = f" `{self.text}`" if self.text else ""
        return f"{Path(self.file).name}, line {self.number}:{code}"


def user_line() -> Line:
    """The line of the program that is being run: the innermost one outside of language, machine and compiler."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_machinery(frame):
        frame = frame.f_back
    name, number = frame.f_code.co_filename, frame.f_lineno
    return Line(name, number, linecache.getline(name, number).strip())


def _is_machinery(frame: FrameType) -> bool:
    return (
        frame.f_globals.get("__name__", "").startswith(_MACHINERY) or "@beartype" in frame.f_code.co_filename
    )


def refuse(reason: str, line: Line | None = None) -> NoReturn:
    """Refuse a program: its line, then why, and what to write instead."""
    raise OrdinateError(f"{line or user_line()} {reason}")
