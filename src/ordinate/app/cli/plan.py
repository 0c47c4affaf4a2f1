"""`ordinate plan`: what figures would cost at a scale, before anything is trained."""

import math
from typing import Annotated

import typer

from ordinate.app.cli.output import Result, Table, counted
from ordinate.errors import OrdinateError
from ordinate.lab.report.numbers import show_number


def plan(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAPER[/FIGURE]]...", help="Figures or papers; default all."),
    ] = None,
    scale: Annotated[str, typer.Option(help="smoke, demo, laptop or paper.")] = "paper",
    teraflops: Annotated[
        float, typer.Option(min=0.001, help="Peak of a GPU's float32 products; 19.5 is an A100's.")
    ] = 19.5,
    days: Annotated[float, typer.Option(min=0.01, help="Time in which all must end.")] = 1.0,
) -> Result:
    """Count and time a step of every recipe, and add up runs, memory, hours here and hours on GPUs."""
    from ordinate.app.cli.progress import SearchProgress
    from ordinate.app.cli.reproduce import choose_figures
    from ordinate.lab.runs import environment
    from ordinate.papers import FIGURES
    from ordinate.papers.plan import Gpu
    from ordinate.papers.plan import plan as plan_figures

    wanted: list[str | None] = [*figures] if figures else [None]
    chosen = {key: figure for name in wanted for key, figure in choose_figures(name, FIGURES).items()}
    if not any(scale in figure.scales for figure in chosen.values()):
        raise OrdinateError(f"no figure of these has a scale {scale!r}: see ordinate reproduce --list")
    with SearchProgress("recipes") as progress:
        found = plan_figures(chosen.values(), scale, Gpu(teraflops=teraflops), report=progress.report)
    hours = found["total"]["hours_gpu"]
    workers = {"days": days, "gpus": math.ceil(hours / (24 * days))}
    settings = f"--scale {scale} --teraflops {teraflops:g} --days {days:g}"
    command = " ".join(["ordinate plan", *(figures or ()), settings, "--json"])
    document = {"command": command, "environment": environment(), **found, "workers": workers}
    numbers = ("parameters", "operations", "gigabytes", "hours_here", "hours_gpu")
    rows = [
        [row["figure"], row["runs"], *(show_number(row[key]) for key in numbers), row["bound"]]
        for row in found["rows"]
    ]
    headers = ["figure", "runs", "parameters", "operations", "GB", "hours here", "GPU hours", "bound by"]
    total = (
        f"{counted(found['total']['runs'], 'run')}, {show_number(hours)} GPU hours: "
        f"{counted(workers['gpus'], 'GPU')} for {counted(days, 'day')}"
    )
    return Result(document, [Table(headers, rows, f"scale {scale}, nothing trained"), total])
