"""`ordinate relations`: what relations there are, and what one of them looks like."""

import tomllib
from typing import Annotated, Any

import typer

from ordinate.app.cli.options import Json, TaskOptions
from ordinate.errors import OrdinateError


def relations(
    shown: Annotated[
        str | None, typer.Option("--show", metavar="TOML", help="Show this relation at a task's tokens.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="The task that --show looks at.")] = None,
    length: Annotated[
        int | None, typer.Option(help="Its length for --show; default the longest trained one.")
    ] = None,
    options: TaskOptions = None,
    json: Json = False,
) -> None:
    """List the relations that a recipe can name, or show the classes of one at the tokens of a task."""
    from ordinate.app.cli.catalogue import facts_of, options_of, show_catalogue
    from ordinate.relations import RELATIONS

    if shown is None:
        if task is not None or length is not None or options:
            raise OrdinateError(
                "--task, --length and --set go with --show: write --show '{kind=\"aligned\"}'"
            )
        found = [{**facts_of(kind), "options": options_of(kind)} for kind in RELATIONS.values()]
        show_catalogue("relations", found, ("name", "summary", "options"), json)
        return
    if task is None:
        raise OrdinateError("--show needs the tokens of a task: add --task addition")

    from ordinate.app.cli.output import print_json, say
    from ordinate.app.cli.tasks import chosen_task
    from ordinate.kinds import choose
    from ordinate.relations import BoundRelation

    relation = choose(read_toml(shown), RELATIONS, "relation")
    chosen = chosen_task(task, options, length)
    length = max(chosen.lengths()) if length is None else length
    coordinates = chosen.coordinates(length)
    text = relation.show(coordinates)
    if not json:
        say(text)
        return
    bound = BoundRelation(relation, [coordinates])
    print_json(
        {
            "relation": {"text": str(relation), "recipe": relation.model_dump(mode="json")},
            "task": chosen.name,
            "length": length,
            "tokens": len(coordinates),
            "classes": bound.names,
            "attended": len(bound.pattern(coordinates).query),
            "picture": text,
        }
    )


def read_toml(text: str) -> Any:
    """Read a value as in a recipe; a bare word is a name.

    >>> read_toml('{kind = "window", back = 3}'), read_toml("aligned")
    ({'kind': 'window', 'back': 3}, 'aligned')
    """
    if text.strip().replace("-", "").isalnum():
        return text.strip()
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        raise OrdinateError(
            f"--show {text!r} is not a TOML value: {error}; write --show '{{kind=\"aligned\"}}'"
        ) from None
