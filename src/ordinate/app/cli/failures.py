"""Failures as one line: what is wrong and what to write instead, with the exit code that goes with it."""

import os
import re
import sys
import traceback
from typing import Any

from ordinate.errors import OrdinateError, nearest

FAILED = 1
"""A claim or a check failed."""
BAD_INPUT = 2
FAULT = 70
"""The program is at fault, not its input."""
INTERRUPTED = 130
BROKEN_PIPE = 141

LONGEST = 3000
"""Characters of a line; of one that quotes more, the middle is left out."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    r"""Return a line in which what steers a terminal, or turns the direction of writing, is written out.

    >>> harmless("length=5\x1b[31m")
    'length=5\\x1b[31m'
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def describe(error: BaseException) -> tuple[str, int]:
    """Return the line for stderr and the exit code.

    >>> describe(OrdinateError("no task is called 'sm': did you mean 'sum'?"))
    ("error: no task is called 'sm': did you mean 'sum'?", 2)
    """
    text, code = _describe(error)
    line = harmless(" ".join(text.split()))
    if len(line) > LONGEST:
        line = f"{line[: LONGEST // 2]} ... {line[-LONGEST // 2 :]}"
    return f"error: {line}", code


def _describe(error: BaseException) -> tuple[str, int]:
    if isinstance(error, OrdinateError):
        return str(error), BAD_INPUT
    if hasattr(error, "format_message"):  # of typer, or of click in versions of typer that use it
        return _usage(error), BAD_INPUT
    if isinstance(error, OSError) and error.strerror:
        where = f" {error.filename}" if error.filename else ""
        return f"cannot use{where or ' a file'}: {error.strerror.lower()}", BAD_INPUT
    if isinstance(error, MemoryError) or "allocate memory" in str(error):
        return "the memory is full: take a smaller batch, count or length, or fewer seeds", BAD_INPUT
    if own := _blame(error):
        return own, BAD_INPUT
    advice = "run again with ORDINATE_DEBUG=1 to see where"
    if os.environ.get("ORDINATE_DEBUG"):
        traceback.print_exception(error)
        advice = "the traceback is above"
    return f"unexpected {type(error).__name__}: {str(error) or 'no message'}; {advice}", FAULT


def _blame(error: BaseException) -> str | None:
    """The line of a plug-in that is at fault."""
    plugins = sys.modules.get("ordinate.lab.plugins")
    return plugins.blame(error) if plugins else None


def _usage(error: Any) -> str:
    """Say what is wrong with the way a command was written."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "ordinate"
    name = getattr(error, "option_name", None)
    if name and hasattr(error, "possibilities") and context:
        if name == "--json" and context.parent is None:
            return "--json comes after the command: write ordinate tasks --json"
        known = [option for parameter in context.command.get_params(context) for option in parameter.opts]
        return f"{path} has no option {name!r}: {nearest(name, [o for o in known if o.startswith('-')])}"
    message = " ".join(error.format_message().split()).rstrip(".").replace("Input should", "it should")
    return f"{message[:1].lower()}{message[1:]}: see {path} --help"
