"""`ordinate study`: many recipes and seeds under one budget, with statistics and comparisons."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ordinate.app.cli.options import Address, EngineName, Workers
from ordinate.app.cli.output import Result, Table, note
from ordinate.errors import OrdinateError

if TYPE_CHECKING:
    from ordinate.lab.studies import Findings

MOST_SHOWN = 60
"""Rows of a table on a terminal; the files hold all."""


def study(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="TOML file, or a Python file, which is run.")],
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of runs and tables; default studies/NAME.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Try failed runs again.")] = False,
) -> Result:
    """Train every recipe of a study with every seed, and compare them.

    One run a worker, one thread each. A run whose worker dies is tried once more, then it has failed and the others go
    on. The same command again goes on where it was stopped, and trains nothing twice.
    """
    from ordinate.app.cli.progress import JobProgress
    from ordinate.lab.runs import write_json
    from ordinate.lab.runs.engine import open_engine
    from ordinate.lab.studies import Findings, conduct, read_plan

    plan = read_plan(file)
    folder = (out or Path("studies") / plan.name).resolve()
    runner = open_engine(engine, address=address, workers=workers)
    seeds = ", ".join(map(str, plan.seeds))
    note(f"{plan.name}: seeds {seeds}, engine {engine}, runs in {folder / 'runs'}")
    with runner, JobProgress(plan.name) as progress:
        done = conduct(
            plan,
            folder / "runs",
            runner,
            on_event=progress,
            on_round=lambda jobs, _: progress.add_jobs(len(jobs)),
            retry=retry,
        )
    if not progress.total:
        note("nothing was left to train: these runs were done before")
    findings = Findings(plan, done)
    files = _write_tables(findings, folder)
    document = {
        "study": plan.name,
        "command": f"ordinate study {file}",
        "engine": engine,
        "workers": runner.workers,
        **findings.to_dict(),
        "files": [str(path) for path in files],
    }
    write_json(folder / "study.json", document)
    all_failed = len(findings.failed) == len(done.recipes) * len(done.seeds)
    return Result(document, _shown(findings, folder), failed=all_failed)


def _write_tables(findings: "Findings", folder: Path) -> list[Path]:
    """Write every table as CSV and LaTeX, and as Parquet where that can be written."""
    from ordinate.lab.report.tables import need_pyarrow, write_frames

    parquet = True
    try:
        need_pyarrow()
    except OrdinateError as error:
        note(f"tables are written as CSV and LaTeX only: {error}")
        parquet = False
    return write_frames(findings.frames(), folder, parquet=parquet)


def _shown(findings: "Findings", folder: Path) -> Iterator[Table | str]:
    for headers, rows, title in findings.shown():
        yield Table(headers, rows[:MOST_SHOWN], title)
        if len(rows) > MOST_SHOWN:
            yield f"and {len(rows) - MOST_SHOWN} rows more in the files"
    for failure in findings.failed:
        yield f"{failure['recipe']} seed {failure['seed']} failed: {failure['error']}"
    yield from findings.notes
    yield f"tables: {folder}/runs.csv, summary.csv, comparisons.csv; report: ordinate report {folder / 'runs'}"
