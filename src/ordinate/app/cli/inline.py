"""Values as TOML on one line, ready to be pasted into a recipe."""

import json
from collections.abc import Mapping
from typing import Any


def inline(value: Any) -> str:
    """Write plain data as one TOML value; what is None is left out of tables.

    >>> inline({"kind": "window", "back": 4, "fields": ["a", "b"], "by": None})
    '{kind = "window", back = 4, fields = ["a", "b"]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k} = {inline(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
