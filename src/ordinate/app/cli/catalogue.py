"""`ordinate tasks`, `encodings` and `models`: what there is; tables of kinds for other commands."""

from collections.abc import Iterable
from typing import Any

from ordinate.app.cli.options import Json


def tasks(json: Json = False) -> None:
    """List the tasks: name, family, axes, one line."""
    from ordinate.lab.tasks import TASKS

    found = [
        {**facts_of(kind), "family": kind.family, "axes": list(kind.axes), "options": options_of(kind)}
        for kind in TASKS.values()
    ]
    show_catalogue("tasks", found, ("name", "family", "axes", "summary"), json)


def encodings(json: Json = False) -> None:
    """List the positional encodings, and what each does at positions never trained."""
    from ordinate.encodings import ENCODINGS

    found = [
        {**facts_of(kind), "beyond": kind.extrapolation, "source": kind.source, "options": options_of(kind)}
        for kind in ENCODINGS.values()
    ]
    show_catalogue("encodings", found, ("name", "summary", "beyond", "source"), json)


def models(json: Json = False) -> None:
    """List the kinds of models, with the settings a recipe can give."""
    from ordinate.models import MODELS

    found = [{**facts_of(kind), "options": options_of(kind)} for kind in MODELS.values()]
    show_catalogue("models", found, ("name", "summary", "options"), json)


def facts_of(kind: Any) -> dict[str, Any]:
    """Name and summary of a kind."""
    return {"name": kind.name, "summary": kind.summary}


def options_of(kind: Any) -> dict[str, dict[str, Any]]:
    """What a recipe can set, with defaults; None where it must be given."""
    required = any(field.is_required() for field in kind.model_fields.values())
    defaults = {} if required else kind().model_dump(mode="json", by_alias=False)
    return {
        name: {
            "default": defaults.get(name, None if field.is_required() else field.default),
            "description": field.description,
        }
        for name, field in kind.model_fields.items()
    }


def show_catalogue(title: str, found: list[dict[str, Any]], columns: Iterable[str], json: bool) -> None:
    """Print kinds as a table of some columns, or all there is as JSON under a title."""
    from ordinate.app.cli.output import print_json, print_table

    if json:
        print_json({title: found})
        return
    headers = list(columns)
    print_table(headers, [[_cell(row[column]) for column in headers] for row in found])


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else ", ".join(value)
