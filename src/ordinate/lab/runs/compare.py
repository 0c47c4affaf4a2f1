"""Recipes and scores side by side."""

from typing import Any


def flatten(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the settings under dotted keys; a list of one kind stands for that kind.

    >>> flatten({"name": "a", "model": {"encoding": [{"kind": "one-hot"}], "heads": 2}})
    {'name': 'a', 'model.encoding.kind': 'one-hot', 'model.heads': 2}
    """
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
            value = value[0]
        if isinstance(value, dict):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def side_by_side(tables: list[dict[str, Any]], *, differing: bool = False) -> dict[str, list[Any]]:
    """Return for every key its value in each table (None where it is not there), all or only differing ones.

    >>> side_by_side([{"a": 1, "b": 2}, {"a": 1, "b": 3}], differing=True)
    {'b': [2, 3]}
    """
    keys = dict.fromkeys(key for table in tables for key in table)
    rows = {key: [table.get(key) for table in tables] for key in keys}
    return {key: row for key, row in rows.items() if not differing or any(value != row[0] for value in row)}
