"""`ordinate serve`: the local page."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from ordinate.app.cli.options import Json, StoreFolder
from ordinate.errors import OrdinateError


def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")
    ] = 8765,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    store: StoreFolder = None,
    results: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of stored results; default results.")
    ] = None,
    json: Json = False,
) -> None:
    """Show runs as they train, a playground, relations and verdicts on a page of this machine.

    The page listens on 127.0.0.1 only and needs no network. Ctrl-C closes it; trainings go on.
    """
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise OrdinateError("the page needs two more packages: write pip install 'ordinate[web]'")
    for option, folder in (("--store", store), ("--results", results)):
        if folder is not None and not folder.is_dir():
            raise OrdinateError(f"there is no folder {str(folder)!r}: give {option} a folder that is there")

    import webbrowser

    from ordinate.app.cli.output import Result, note
    from ordinate.app.web.server import serve as run

    runs = store or Path("runs")
    found = results or (Path("results") if Path("results").is_dir() else None)

    def ready(url: str) -> None:
        document = {"url": url, "store": str(runs), "results": None if found is None else str(found)}
        Result(document, [url]).print(json=json)
        typer.get_text_stream("stdout").flush()
        note("Ctrl-C closes the page")
        if show:
            webbrowser.open(url)

    run(runs, found, port, ready)
