"""`ordinate report`: one HTML page of a reproduction, a paper, a run, a study or a compiled program."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.app.cli.output import Result, counted, note
from ordinate.errors import OrdinateError

if TYPE_CHECKING:
    from ordinate.lab.report.report import Report


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder of a reproduction, of several, of a run, a recipe, a store, or of a compiled program.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page; default report.html in the folder.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every figure for a paper too: PDF and SVG.")
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every table too: CSV and LaTeX.")
    ] = None,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write the tables as Parquet too; needs ordinate\\[tables].")
    ] = False,
) -> Result:
    """Write one HTML page from what is stored: verdicts first, figures that tell their values, how to rerun.

    The page opens from disk, asks nothing of the network, and can be printed.
    """
    if not folder.is_dir():
        raise OrdinateError(
            f"there is no folder {str(folder)!r}: write the folder of a run or of a reproduction"
        )
    if parquet and tables is None:
        raise OrdinateError("--parquet says how tables are written: add --tables DIR")

    from ordinate.lab.report.report import write_figures, write_report
    from ordinate.lab.report.tables import need_pyarrow, write_frames

    if parquet:
        need_pyarrow()
    subject = _compiled(folder) or _reproductions(folder) or _runs(folder)
    if subject is None:
        raise OrdinateError(f"{folder} holds neither a run nor a result.json: write runs/NAME-KEY/seed-0")
    page = subject.build()
    path = write_report(page, out or folder / "report.html")
    if out is None:
        subject.beside()
    drawn = write_figures(subject.build, figures) if figures else []
    written = write_frames(page.frames(), tables, parquet=parquet) if tables else []
    facts = {"reports": [path], "figures": drawn, "tables": written}
    lines = [
        f"{word}: {len(files)} files in {where}"
        for word, files, where in (("figures", drawn, figures), ("tables", written, tables))
        if files
    ]
    document = {kind: [str(file) for file in files] for kind, files in facts.items()}
    return Result(document, [f"report: {path}", *lines])


@dataclass(frozen=True)
class _Subject:
    """What a folder holds, as a page that can be built."""

    build: "Callable[[], Report]"
    beside: Callable[[], object] = lambda: None
    """Writes what stands beside the page in the folder."""


def _compiled(folder: Path) -> _Subject | None:
    """A compiled program."""
    from ordinate.lab.programs.files import is_compiled

    if not is_compiled(folder):
        return None
    from ordinate.lab.report.programs import compiled_report

    return _Subject(lambda: compiled_report(folder))


def _reproductions(folder: Path) -> _Subject | None:
    """The result in this folder, or all results below it on one page."""
    from ordinate.papers import stored, stored_report

    if (folder / "result.json").is_file():
        figure, document = stored(folder)
        return _Subject(lambda: figure.report(document), beside=lambda: figure.write(document, folder))
    if not any(folder.glob("**/result.json")):
        return None
    from ordinate.app.cli.progress import SearchProgress

    def build() -> "Report":
        with SearchProgress("figures") as progress:
            return stored_report(folder, progress.report)

    return _Subject(build)


def _runs(folder: Path) -> _Subject | None:
    """One run, all seeds of a recipe, or all recipes of a store; what cannot be read is named."""
    from ordinate.lab.report.run_pages import stored_runs

    found = stored_runs(folder)
    if found is None:
        return None
    if found.damaged:
        note(f"{counted(len(found.damaged), 'run')} cannot be read: the report says why")
    return _Subject(found.report)
