"""Values as strict JSON text and back, with numbers that are not finite kept.

JSON has no NaN and no infinity. They are written as the strings `"NaN"`, `"Infinity"` and `"-Infinity"`
(the spelling that JavaScript's `Number(...)` and Python's `float(...)` both read) and come back as floats.
"""

import json
import math
from os import PathLike, fspath
from typing import Any

from ordinate.errors import OrdinateError

_NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def to_json(value: Any, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Return `value` as strict JSON: arrays as lists, paths as text, floats that are not finite as strings.

    >>> to_json({"loss": float("nan"), "shape": (2, 3)})
    '{"loss": "NaN", "shape": [2, 3]}'
    """
    return json.dumps(_encode(value), indent=indent, sort_keys=sort_keys, allow_nan=False)


def from_json(text: str | bytes) -> Any:
    """Return the value that `to_json` wrote; raise `ValueError` for anything that is not JSON.

    >>> from_json('{"best": "Infinity"}')
    {'best': inf}
    """
    return _decode(json.loads(text))


def canonical(value: Any) -> str:
    """Return the one JSON text of `value`, whatever the order of its keys: what a hash is taken of.

    >>> canonical({"b": 1, "a": [1.0]})
    '{"a":[1.0],"b":1}'
    """
    return json.dumps(_encode(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _encode(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _spell(value)
    if isinstance(value, dict):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(item) for item in value]
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "tolist"):
        return _encode(value.tolist())
    raise OrdinateError(
        f"a {type(value).__name__} cannot be written as JSON: give numbers, text, lists or dicts instead"
    )


def _spell(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _decode(value: Any) -> Any:
    if isinstance(value, str):
        return _NON_FINITE.get(value, value)
    if isinstance(value, dict):
        return {key: _decode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_decode(item) for item in value]
    return value
