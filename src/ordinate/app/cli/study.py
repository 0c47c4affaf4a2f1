"""`ordinate study`: many recipes and seeds under one budget, with statistics and comparisons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.failures import FAILED
from ordinate.app.cli.options import Address, EngineName, Json, Workers
from ordinate.errors import OrdinateError

if TYPE_CHECKING:
    from ordinate.app.cli.study_tables import Findings

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
    json: Json = False,
) -> None:
    """Train every recipe of a study with every seed, and compare them.

    One run a worker, one thread each. A run whose worker dies is tried once more, then it has failed and the others go
    on. The same command again goes on where it was stopped, and trains nothing twice.
    """
    from ordinate.app.cli import output
    from ordinate.app.cli.progress import JobProgress
    from ordinate.app.cli.study_tables import Findings
    from ordinate.lab.runs import write_json
    from ordinate.lab.runs.engine import open_engine
    from ordinate.lab.studies import conduct, read_plan

    plan = read_plan(file)
    folder = (out or Path("studies") / plan.name).resolve()
    runner = open_engine(engine, address=address, workers=workers)
    seeds = ", ".join(map(str, plan.seeds))
    output.note(f"{plan.name}: seeds {seeds}, engine {engine}, runs in {folder / 'runs'}")
    with runner, JobProgress(plan.name) as progress:
        done = conduct(
            plan,
            folder / "runs",
            runner,
            on_event=progress,
            on_round=lambda jobs, _: progress.expect(len(jobs)),
            retry=retry,
        )
    if not progress.total:
        output.note("nothing was left to train: these runs were done before")
    findings = Findings(plan, done)
    files = _write_tables(findings, folder)
    document = {
        "study": plan.name,
        "command": f"ordinate study {file}",
        "engine": engine,
        "workers": runner.workers,
        **_facts(findings),
        "files": [str(path) for path in files],
    }
    write_json(folder / "study.json", document)
    if json:
        output.print_json(document)
    else:
        _show(findings, folder)
    if len(findings.failed) == len(done.recipes) * len(done.seeds):
        raise typer.Exit(FAILED)


def _write_tables(findings: "Findings", folder: Path) -> list[Path]:
    """Write every table as CSV and LaTeX, and as Parquet where that can be written."""
    from ordinate.app.cli.output import note
    from ordinate.lab.report.tables import need_pyarrow, write_frame

    parquet = True
    try:
        need_pyarrow()
    except OrdinateError as error:
        note(f"tables are written as CSV and LaTeX only: {error}")
        parquet = False
    return [path for frame in findings.frames() for path in write_frame(frame, folder, parquet=parquet)]


def _facts(findings: "Findings") -> dict[str, Any]:
    """What was found, for JSON; the keys are stable."""
    from ordinate.app.cli.study_tables import rows_as_dicts
    from ordinate.lab.runs import environment

    plan, done = findings.plan, findings.study
    _, summary, pairs = findings.frames()
    return {
        "store": str(done.store),
        "seeds": list(plan.seeds),
        "budget": plan.budget.model_dump(),
        "success": plan.success,
        "recipes": [
            {"name": recipe.name, "spent": findings.spent[recipe.name], "recipe": recipe.to_dict()}
            for recipe in done.recipes
        ],
        "failed": findings.failed,
        "points": rows_as_dicts(summary),
        "comparisons": rows_as_dicts(pairs),
        "best": findings.best,
        "notes": findings.notes,
        "environment": environment(),
    }


def _show(findings: "Findings", folder: Path) -> None:
    from ordinate.app.cli.output import print_table, say

    for headers, rows, title in findings.shown():
        print_table(headers, rows[:MOST_SHOWN], title=title)
        if len(rows) > MOST_SHOWN:
            say(f"and {len(rows) - MOST_SHOWN} rows more in the files")
    for failure in findings.failed:
        say(f"{failure['recipe']} seed {failure['seed']} failed: {failure['error']}")
    for text in findings.notes:
        say(text)
    say(f"tables: {folder}/runs.csv, summary.csv, comparisons.csv; report: ordinate report {folder / 'runs'}")
