"""Values as strict JSON text and back, with numbers that are not finite kept.

JSON has no NaN and no infinity. They are written as the strings `"NaN"`, `"Infinity"` and `"-Infinity"`
(the spelling that JavaScript's `Number(...)` and Python's `float(...)` both read) and come back as floats.
A text of that spelling, such as the name of a recipe, is written with its first letter escaped, `"\\u004eaN"`: the
same string to every reader of JSON, and here no number.
"""

import json
import re
from os import PathLike, fspath
from typing import Any

from ordinate.errors import OrdinateError
from ordinate.lab.toml import DEEPEST, LARGEST, is_deep

_NUMBERS = {word: f'"{word}"' for word in ("NaN", "Infinity", "-Infinity")}
_TEXTS = {text: f'"\\u{ord(text[1]):04x}{text[2:]}' for text in _NUMBERS.values()}
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|NaN|-?Infinity')
_NUMBER = re.compile(r'(?<![^\s\[,:])"(NaN|-?Infinity)"(?!\s*:)')
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPED = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>\\u[dD][89a-fA-F]..)|\\.")
"""What follows a backslash in JSON: a whole character of two halves, half a character, anything else."""


def to_json(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return `value` as strict JSON: arrays as lists, paths as text, floats that are not finite as strings.

    >>> to_json({"loss": float("nan"), "shape": (2, 3)})
    '{"loss": "NaN", "shape": [2, 3]}'
    """
    return _spell(_dump(value, indent=indent, sort_keys=sort_keys), _NUMBERS | _TEXTS)


def from_json(text: str | bytes) -> Any:
    """Return the value that `to_json` wrote; raise `ValueError` for anything that is not JSON.

    >>> from_json('{"best": "Infinity"}'), from_json(to_json({"name": "Infinity"}))
    ({'best': inf}, {'name': 'Infinity'})
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text))
    try:
        value = json.loads(_NUMBER.sub(r"\1", text))
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST} deep") from None
    if is_deep(value):
        raise ValueError(f"it is nested more than {DEEPEST} deep")
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode()  # refuses half a character, which no file can hold
    return value


def canonical(value: Any) -> str:
    """Return the one JSON text of `value`, whatever the order of its keys: what a hash is taken of.

    >>> canonical({"b": 1, "a": [1.0]})
    '{"a":[1.0],"b":1}'
    """
    return _spell(_dump(value, sort_keys=True, separators=(",", ":")), _NUMBERS)


def is_whole(value: object) -> bool:
    """Whether a value that was read is a count or a seed: a whole number from 0 to `LARGEST`.

    >>> is_whole(7), is_whole(-1), is_whole(True), is_whole(10**30)
    (True, False, False, False)
    """
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def is_number(value: object) -> bool:
    """Whether a value that was read is a number that a float can hold.

    >>> is_number(0.5), is_number(-3), is_number("0.5"), is_number(10**400)
    (True, True, False, False)
    """
    return isinstance(value, float) or is_whole(value) or (isinstance(value, int) and -LARGEST <= value < 0)


def _dump(value: Any, **options: Any) -> str:
    r"""JSON in which NaN and infinities are words, and half characters, as odd names of files have them, `\\udcff`."""
    if is_deep(value):
        raise OrdinateError(f"what is nested more than {DEEPEST} deep cannot be written as JSON")
    text = json.dumps(value, default=_plain, **options)
    if _SURROGATE.search(text):
        text = _ESCAPED.sub(lambda found: "\\" * bool(found["half"]) + found[0], text)
    return text


def _plain(value: Any) -> Any:
    """The same value of a type that JSON has."""
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise OrdinateError(
        f"a {type(value).__name__} cannot be written as JSON: give numbers, text, lists or dicts instead"
    )


def _spell(text: str, words: dict[str, str]) -> str:
    """Replace whole tokens of JSON."""
    if "NaN" not in text and "Infinity" not in text:
        return text
    return _TOKEN.sub(lambda found: words.get(found[0], found[0]), text)
