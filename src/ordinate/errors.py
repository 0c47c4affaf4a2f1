"""Errors that a person can act on: one line that says what is wrong and what to write instead."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError


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


def explain(error: "ValidationError", where: str, model: "type[BaseModel]") -> OrdinateError:
    """Turn the first complaint of a validation into one line: the field, the value, and what is allowed.

    `where` is the place of `model` in the recipe, such as `training` ("" for the top level).
    """
    first = error.errors()[0]
    keys = [str(part) for part in first["loc"] if not isinstance(part, int)]
    field = ".".join([where, *keys] if where else keys)
    if first["type"] == "extra_forbidden":
        hint = nearest(keys[-1], model.model_fields) if len(keys) == 1 else "remove it"
        return OrdinateError(f"unknown key {field!r}: {hint}")
    if first["type"] == "missing":
        return OrdinateError(f"{field!r} is missing: add it")
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
    return OrdinateError(f"{field} = {first['input']!r} is not allowed: it {message}")
