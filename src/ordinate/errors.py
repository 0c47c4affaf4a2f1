"""Errors that a person can act on: one line that says what is wrong and what to write instead."""

from collections.abc import Iterable
from difflib import get_close_matches


class OrdinateError(Exception):
    """Bad input or an unusable environment. The command line prints it as one line and exits with 2."""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the hint for a misspelt name.

    >>> nearest("medain", ["sum", "median"])
    "did you mean 'median'?"
    >>> nearest("xyz", ["sum", "median"])
    'known: median, sum'
    """
    known = sorted(known)
    close = get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
