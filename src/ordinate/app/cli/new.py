"""`ordinate new`: the first files of something of your own."""

from pathlib import Path
from typing import Annotated

import typer

from ordinate.app.cli.options import Json
from ordinate.errors import OrdinateError, nearest

WHATS = ("task",)


def new(
    what: Annotated[str, typer.Argument(metavar="task", help="What to begin: a task.")],
    name: Annotated[str, typer.Argument(help="Its name, such as running-range.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.")] = Path(),
    json: Json = False,
) -> None:
    """Write a task of your own that works, its test and a recipe, to be changed by you."""
    from ordinate.app.cli.output import print_json
    from ordinate.app.cli.skeleton import files
    from ordinate.lab.runs import write_text
    from ordinate.lab.tasks import TASKS

    if what not in WHATS:
        raise OrdinateError(f"there is no new {what!r}: {nearest(what, WHATS)}")
    if name in TASKS:
        raise OrdinateError(f"a task is called {name!r} already: choose another name")
    texts = {out / file: text for file, text in files(name).items()}
    for path in texts:
        if path.exists():
            raise OrdinateError(f"{path} is there already: choose another name or --out")
    for path, text in texts.items():
        write_text(path, text)
    if json:
        print_json({"files": [str(path) for path in texts]})
        return
    module = next(iter(texts))
    print("\n".join(map(str, texts)))
    print(f"Try: ordinate --plugin {module} sample {name}")
