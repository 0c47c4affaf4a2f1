"""`ordinate tasks`, `encodings` and `models`: what there is."""

from collections.abc import Iterable
from typing import Any

from ordinate.cli.options import Json


def tasks(json: Json = False) -> None:
    """List the tasks: name, family, axes, one line."""
    from ordinate.tasks import TASKS

    found = [
        {**_facts(kind), "family": kind.family, "axes": list(kind.axes), "options": _options(kind)}
        for kind in TASKS.values()
    ]
    _show("tasks", found, ("name", "family", "axes", "summary"), json)


def encodings(json: Json = False) -> None:
    """List the positional encodings, and what each does at positions never trained."""
    from ordinate.positions.encodings import ENCODINGS

    found = [
        {**_facts(kind), "beyond": kind.beyond, "options": _options(kind)} for kind in ENCODINGS.values()
    ]
    _show("encodings", found, ("name", "summary", "beyond"), json)


def models(json: Json = False) -> None:
    """List the kinds of models, with the settings a recipe can give."""
    from ordinate.models import MODELS

    found = [{**_facts(kind), "options": _options(kind)} for kind in MODELS.values()]
    _show("models", found, ("name", "summary", "options"), json)


def _facts(kind: Any) -> dict[str, Any]:
    return {"name": kind.name, "summary": kind.summary}


def _options(kind: Any) -> dict[str, dict[str, Any]]:
    """What a recipe can set, with defaults."""
    defaults = kind().model_dump(mode="json")
    return {
        name: {"default": defaults.get(name), "description": field.description}
        for name, field in kind.model_fields.items()
    }


def _show(title: str, found: list[dict[str, Any]], columns: Iterable[str], json: bool) -> None:
    from ordinate.cli.output import print_json, print_table

    if json:
        print_json({title: found})
        return
    headers = list(columns)
    print_table(headers, [[_cell(row[column]) for column in headers] for row in found])


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else ", ".join(value)
