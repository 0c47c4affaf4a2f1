"""TOML as people write it, in recipes, studies and options: read within bounds, and written on one line.

A file may begin with a byte-order mark, as some editors put it there. What is nested so deeply that walking through
it can fail, and a whole number that TOML has no room for (64 bits), is refused in one line.
"""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from ordinate.errors import OrdinateError

LARGEST = 2**63 - 1
"""Of whole numbers: also what SQLite can hold."""
DEEPEST = 100
"""Lists and tables inside each other."""
_NESTED = (dict, list, tuple)


def parse_toml(text: str) -> dict[str, Any]:
    """Return the table that a text holds; raise `ValueError` for anything that is not TOML.

    >>> parse_toml("steps = 100")
    {'steps': 100}
    """
    try:
        document = tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise _too_deep() from None
    check_bounds(document)
    return document


def check_bounds(value: Any) -> None:
    """Refuse what is nested too deeply, and whole numbers of more than 64 bits."""
    if is_deep(value):
        raise _too_deep()
    level = [value]
    while level:
        for each in level:
            if isinstance(each, int) and not -LARGEST <= each <= LARGEST:
                raise OrdinateError(f"a whole number cannot have {each.bit_length()} bits: at most 63")
        level = _inner(level)


def is_deep(value: Any) -> bool:
    """Whether lists and tables are nested more than `DEEPEST` deep.

    >>> is_deep([[1]])
    False
    """
    level = [value]
    for _ in range(DEEPEST):
        level = _inner(level)
        if not level:
            return False
    return any(isinstance(each, _NESTED) for each in level)


def _inner(level: list[Any]) -> list[Any]:
    """What the lists and tables of a level hold."""
    nested = [
        each.values() if isinstance(each, dict) else each for each in level if isinstance(each, _NESTED)
    ]
    return [item for items in nested for item in items]


def inline(value: Any) -> str:
    """Write plain data as one TOML value, ready to be pasted into a recipe; what is None is left out of tables.

    >>> inline({"kind": "window", "back": 4, "fields": ["a", "b"], "by": None})
    '{kind = "window", back = 4, fields = ["a", "b"]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k} = {inline(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _too_deep() -> OrdinateError:
    return OrdinateError(f"TOML cannot be nested more than {DEEPEST} deep")
