"""`ordinate report`: the HTML page of a reproduction, a run or a compiled program, from what is stored."""

from pathlib import Path
from typing import Annotated

import typer

from ordinate.cli.options import Json
from ordinate.errors import OrdinateError


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder of a reproduction, of a run, of a recipe, or of a compiled program."
        ),
    ],
    json: Json = False,
) -> None:
    """Write the HTML report of a reproduction, of a run or of a compiled program from what is stored."""
    if not folder.is_dir():
        raise OrdinateError(
            f"there is no folder {str(folder)!r}: write the folder of a run or of a reproduction"
        )

    from ordinate.cli.output import print_json, say

    pages = _compiled(folder) or _reproductions(folder) or _runs(folder)
    if not pages:
        raise OrdinateError(f"{folder} holds neither a run nor a result.json: write runs/NAME-KEY/seed-0")
    if json:
        print_json({"reports": [str(page) for page in pages]})
        return
    for page in pages:
        say(f"report: {page}")


def _compiled(folder: Path) -> list[Path]:
    """Write the report of a compiled program."""
    from ordinate.programs.files import is_compiled

    if not is_compiled(folder):
        return []
    from ordinate.cli.compiled_report import write_compiled_report

    return [write_compiled_report(folder)]


def _reproductions(folder: Path) -> list[Path]:
    """Write the reports of the results in this folder, or below it."""
    results = [folder / "result.json"] if (folder / "result.json").is_file() else []
    results = results or sorted(folder.glob("**/result.json"))
    if not results:
        return []
    from ordinate.papers import rewrite_report

    return [rewrite_report(result.parent).files["html"] for result in results]


def _runs(folder: Path) -> list[Path]:
    """Write the report of one run, or of all seeds of a recipe together."""
    from ordinate.cli.run_report import write_run_report
    from ordinate.runs import Run
    from ordinate.runs.record import is_run_folder

    whole = folder.resolve()
    if is_run_folder(whole):
        return [write_run_report([Run(whole)], folder / "report.html", shown=folder)]
    seeds = sorted(path for path in whole.glob("seed-*") if is_run_folder(path))
    seeds.sort(key=lambda path: int(path.name.removeprefix("seed-")))
    if not seeds:
        return []
    return [write_run_report([Run(path) for path in seeds], folder / "report.html", shown=folder)]
