"""Numbers that papers published, read from one data file a paper."""

import json
from functools import lru_cache
from importlib import resources
from typing import Any


@lru_cache
def published(paper: str) -> dict[str, Any]:
    """Return the data file of a paper, each number with its source.

    >>> published("positional")["value-scale"]["sum"]["standard"]["10"]
    87.6
    """
    file = resources.files("ordinate.papers") / paper / "published.json"
    document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return document
