"""Grids: a base and changes to it, multiplied out into the documents of recipes."""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import product
from typing import Any

from ordinate.lab.training.recipe import set_dotted

Document = dict[str, Any]


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Document:
    """Return the base with changes; tables are merged, everything else is replaced.

    >>> merged({"model": {"kind": "standard", "width": 8}}, {"model": {"width": 16}})
    {'model': {'kind': 'standard', 'width': 16}}
    """
    document = deepcopy(dict(base))
    for key, value in changes.items():
        inner = document.get(key)
        both = isinstance(inner, dict) and isinstance(value, Mapping)
        document[key] = merged(inner, value) if both else deepcopy(value)  # type: ignore[arg-type]
    return document


def multiply(
    base: Mapping[str, Any], variants: Sequence[Mapping[str, Any]], grid: Mapping[str, Sequence[Any]]
) -> list[Document]:
    """Return a document for every variant of the base and every combination of values of the grid.

    The keys of the grid are dotted, and their values end up in the names.

    >>> grid = {"training.batch": [8, 16], "model.kind": ["standard"]}
    >>> [found["name"] for found in multiply({"name": "sum"}, [], grid)]
    ['sum-batch-8-kind-standard', 'sum-batch-16-kind-standard']
    """
    documents = []
    for variant in variants or [{}]:
        whole = merged(base, variant)
        for values in product(*grid.values()):
            document = deepcopy(whole)
            words = [str(document.get("name", ""))]
            for key, value in zip(grid, values, strict=True):
                set_dotted(document, key, deepcopy(value))
                words += [key.rpartition(".")[2], _slug(value)]
            documents.append(document | {"name": "-".join(word for word in words if word)})
    return documents


def _slug(value: Any) -> str:
    """A value as a part of a name: the kind of a table, the parts of a list.

    >>> _slug(1e-05), _slug({"kind": "rope", "base": 5}), _slug([1, 3]), _slug("a b")
    ('1e-05', 'rope-base-5', '1.3', 'a.b')
    """
    if isinstance(value, Mapping):
        rest = [f"{key}-{_slug(item)}" for key, item in value.items() if key not in ("kind", "name")]
        return "-".join([str(value.get("kind", value.get("name", ""))), *rest]).strip("-")
    if isinstance(value, list | tuple):
        return ".".join(map(_slug, value))
    return re.sub(r"[^A-Za-z0-9._-]+", ".", str(value)).strip(".-") or "none"
