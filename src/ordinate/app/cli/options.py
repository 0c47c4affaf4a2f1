"""Options that several commands share, under the same names and with the same meaning."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
StoreFolder = Annotated[
    Path | None, typer.Option("--store", metavar="DIR", help="Folder of runs; default runs.")
]
ModelName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="Id of a run or the beginning of one, its folder, that of a compiled program, or a model of the package.",
    ),
]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.")]
TaskOptions = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="OPTION=VALUE", help="An option of the task; may be repeated."),
]
Axes = Annotated[
    list[str] | None,
    typer.Option("--axis", metavar="NAME=VALUE", help="Value of an axis of the task; may be repeated."),
]
EngineName = Annotated[
    str, typer.Option("--engine", help="local: processes of this machine; ray: a Ray cluster.")
]
Address = Annotated[
    str | None, typer.Option(help="Of the Ray cluster, HOST:6379 or auto; a Ray of its own without.")
]
Workers = Annotated[int | None, typer.Option(help="Runs side by side; default one a core.")]
