"""Errors that a person can act on: one line that says what is wrong and what to write instead."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails


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


def quote(value: object, most: int = 200) -> str:
    """The value as it would be written in Python, cut in the middle where it is long.

    >>> quote([1.5] * 9, most=20)
    '[1.5, 1.5, ...  1.5, 1.5]'
    """
    text = repr(value)
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"


def explain(error: "ValidationError", where: str, model: "type[BaseModel]") -> OrdinateError:
    """Turn the complaints of a validation into one line: each field, its value, and what is allowed.

    `where` is the place of `model` in the recipe, such as `training` ("" for the top level).
    """
    return OrdinateError("; ".join(_refusal(detail, where, model) for detail in error.errors()))


def _refusal(detail: "ErrorDetails", where: str, model: "type[BaseModel]") -> str:
    keys = [str(part) for part in detail["loc"] if not isinstance(part, int)]
    place = ".".join([where, *keys] if where else keys)
    if detail["type"] == "extra_forbidden":
        inner = model
        for key in keys[:-1]:
            inner = _annotation(inner, key)
        if keys[-1] in inner.model_fields:
            older = inner.model_fields[keys[-1]].alias
            return f"{place!r} is given under its older name {older!r} too: write one of them"
        return f"unknown key {place!r}: {nearest(keys[-1], inner.model_fields)}"
    if detail["type"] == "missing":
        return f"{place!r} is missing: add it"
    reason = detail["msg"].removeprefix("Value error, ").replace("Input should", "it should")
    if not keys:
        return f"{place}: {reason}" if place else reason
    field = model.model_fields.get(keys[0]) if len(keys) == 1 else None
    meaning = f" ({keys[-1]}: {field.description})" if field and field.description else ""
    return f"{place} = {quote(detail['input'])} is not allowed, {reason}{meaning}"


def _annotation(model: "type[BaseModel]", key: str) -> "type[BaseModel]":
    """The table that a key of a recipe holds."""
    annotation = model.model_fields[key].annotation
    tables = (kind for kind in (annotation, *get_args(annotation)) if hasattr(kind, "model_fields"))
    return next(tables, model)
