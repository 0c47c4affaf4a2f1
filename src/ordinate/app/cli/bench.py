"""`ordinate bench`: ratios against textbook implementations, measured on this machine."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import ordinate
from ordinate.app.cli.output import Result, Table, note
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.report.numbers import show_number


def bench(
    sections: Annotated[
        list[str] | None, typer.Argument(metavar="[SECTION]...", help="Sections to run; default all.")
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="Name the sections.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: proves the path only.")] = False,
    tune: Annotated[
        bool, typer.Option("--tune", help="Measure and keep what the paths of attention cost here.")
    ] = False,
) -> Result:
    """Measure speed and memory side by side with textbook code; a target that is missed fails."""
    if tune:
        if sections or names:
            raise OrdinateError("--tune measures the paths of attention alone: leave the sections out")
        return _tune(quick)
    _find_checkout()
    from bench import FULL, QUICK, SECTIONS, run_sections

    for name in sections or ():
        if name not in SECTIONS:
            raise OrdinateError(f"there is no section {name!r}: {nearest(name, SECTIONS)}")
    if names:
        document = {"sections": [{"name": n, "summary": s} for n, s in SECTIONS.items()]}
        return Result(document, [Table(["section", "measures"], list(SECTIONS.items()))])
    wanted = list(dict.fromkeys(sections or SECTIONS))
    results = run_sections(wanted, on_progress=note, settings=QUICK if quick else FULL)
    command = " ".join(["ordinate bench", *(sections or ()), "--json"])
    headers = ["section", "measure", "value", "unit", "target", ""]
    return Result(
        {"command": command, **results},
        [Table(headers, [_row(row) for row in results["rows"]])],
        failed=any(row["ok"] is False for row in results["rows"]),
    )


def _tune(quick: bool) -> Result:
    """Measure with freed memory kept, as trainings do."""
    from ordinate.attention.costs import Costs, costs, keep
    from ordinate.attention.tune import measured
    from ordinate.lab.runs import environment, keep_freed_memory

    keep_freed_memory()
    before = asdict(costs())
    after = asdict(measured(0.0 if quick else 0.3, note))
    document = {"command": "ordinate bench --tune", "environment": environment(), "costs": after}
    rows = [[name, f"{before[name]:.3g}", f"{number:.3g}"] for name, number in after.items()]
    if quick:  # too short to be trusted
        return Result(document, [Table(["cost", "in force", "measured"], rows)])
    path = keep(Costs(**after))
    return Result(
        {**document, "kept": str(path)},
        [
            Table(["cost", "in force", "measured"], rows),
            f"kept in {path}; read by processes that start from now on",
        ],
    )


def _find_checkout() -> None:
    """Let the folder `bench` of the source checkout be imported: it is not installed."""
    root = Path(ordinate.__file__).resolve().parents[2]
    if not (root / "bench" / "sections.py").is_file():
        raise OrdinateError(
            "the benchmarks need the source checkout, with the folder bench in it: "
            "clone the repository and install it with `pip install -e .`"
        )
    if str(root) not in sys.path:
        sys.path.append(str(root))


def _row(row: dict[str, Any]) -> list[object]:
    def show(value: Any) -> str:
        return show_number(value) if isinstance(value, int | float) else str(value or "")

    verdict = {True: "ok", False: "missed", None: ""}[row["ok"]]
    return [row["section"], row["measure"], show(row["value"]), row["unit"], show(row["target"]), verdict]
