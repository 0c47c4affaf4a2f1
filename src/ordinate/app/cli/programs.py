"""`ordinate compile`: programs as weights."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.output import Result, Table
from ordinate.errors import OrdinateError, nearest

if TYPE_CHECKING:
    import torch

    from ordinate.lab.programs.compiler.compile import Compiled
    from ordinate.lab.programs.program import Program

Processors = Annotated[int, typer.Option("--n", "--length", help="Processors, one a token.")]
Format = Annotated[str, typer.Option("--dtype", help="Number format of the weights: float32 or float64.")]
FORMATS = ("float32", "float64")
Reals = Annotated[
    bool,
    typer.Option("--reals", help="Inputs are real numbers of the same ranges, not whole ones only."),
]
LISTED = 8
"""Processors that a list of programs states ranges for."""
PATIENCE = 2.0
"""Seconds after which progress is shown."""
COLUMNS = {
    "program": "program",
    "n": "n",
    "rounds": "rounds",
    "words": "words",
    "layers": "layers",
    "layer_bound": "bound",
    "heads": "heads",
    "head_bound": "bound",
    "width": "width",
    "hidden": "hidden",
}


def compile(  # noqa: A001 (the name of the command)
    program: Annotated[
        str | None,
        typer.Argument(metavar="[PROGRAM]", help="Name of a program; without one they are listed."),
    ] = None,
    n: Processors = LISTED,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the model and what is known of it.")
    ] = None,
    dense: Annotated[
        bool, typer.Option("--dense", help="Write query and key weights instead of tables of sources.")
    ] = False,
    table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="Rounds, layers, heads and width for n = 8 .. 4096, of one program or of all static ones.",
        ),
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw an example on its way through the layers: a .png or .svg."),
    ] = None,
    dtype: Format = "float32",
    reals: Reals = False,
) -> Result:
    """Compile a parallel algorithm into the weights of a positional Transformer."""
    if dense and out is None:
        raise OrdinateError("--dense is about what is written: add --out FOLDER")
    if program is None and (out or picture):
        raise OrdinateError("no program is named: write ordinate compile prefix-sum, say")
    if picture is not None:
        check_picture(picture, n)
    if table:
        return _table(program)
    if program is None:
        return _list()

    from ordinate.lab.programs.compiler.compile import compile_program
    from ordinate.lab.programs.files import describe, save

    compiled = compile_program(program_of(program, reals), n, number_format(dtype))
    facts = describe(compiled)
    if out is not None:
        save(compiled, out, dense=dense)
    if picture is not None:
        _draw(compiled, picture)
    return Result({**facts, "out": out, "picture": picture}, _shown(compiled, facts, dtype, (out, picture)))


def _shown(
    compiled: "Compiled", facts: dict[str, Any], dtype: str, files: Iterable[Path | None]
) -> Iterator[Table | str]:
    program, costs = compiled.program, compiled.costs
    yield f"{program.name}: {program.summary}"
    yield Table(
        ["processors", "rounds", "words a round", "layers", "heads", "width", "hidden", "parameters"],
        [
            [
                *(costs.n, costs.rounds, costs.words),
                f"{costs.layers} (theorem: {costs.layer_bound})",
                f"{costs.heads} (theorem: {costs.head_bound})",
                *(costs.width, costs.hidden, facts["parameters"]),
            ]
        ],
    )
    for word, known in enumerate(program.ranges(compiled.n)):
        yield f"input word {word}: {known}"
    yield f"proven error bound in {dtype}: {facts['error_bound']:.3g}"
    for written in files:
        if written is not None:
            yield f"written to {written}"


def check_picture(path: Path, n: int) -> None:
    """Refuse a picture that cannot be written, or read."""
    from ordinate.lab.report.drawing import check_ending
    from ordinate.lab.report.programs import MOST_TOKENS

    check_ending(path)
    if n > MOST_TOKENS:
        raise OrdinateError(f"{n} processors are too many to draw: write --n {MOST_TOKENS} or fewer")


def _draw(compiled: "Compiled", path: Path) -> None:
    import torch

    from ordinate.lab.explain.explanation import walk
    from ordinate.lab.programs.compiler.labels import labels
    from ordinate.lab.report.drawing import write_figure
    from ordinate.lab.report.programs import draw_walk, example_inputs

    inputs = torch.from_numpy(example_inputs(compiled.program.ranges(compiled.n), compiled.n))
    steps = walk(compiled.model, labels(compiled.allocation), inputs)
    write_figure(draw_walk(steps, f"{compiled.program.name} on {compiled.n} processors"), path)


def number_format(name: str) -> "torch.dtype":
    """The number format of weights."""
    import torch

    if name not in FORMATS:
        raise OrdinateError(f"there is no number format {name!r}: {nearest(name, FORMATS)}")
    found = getattr(torch, name)
    assert isinstance(found, torch.dtype)
    return found


def program_of(name: str, reals: bool) -> "Program":
    """A program, on whole numbers or on real ones."""
    from ordinate.lab.programs.collection import find_program

    found = find_program(name)
    return found.on_reals() if reals else found


def _list() -> Result:
    from ordinate.lab.programs.collection import PROGRAMS

    found = [
        {"name": p.name, "inputs": [asdict(known) for known in p.ranges(LISTED)], "summary": p.summary}
        for p in PROGRAMS.values()
    ]
    rows = [(p.name, len(p.ranges(LISTED)), p.ranges(LISTED)[0], p.summary) for p in PROGRAMS.values()]
    headers = ["program", "words", f"each in, for n = {LISTED}", "what it computes"]
    return Result({"programs": found}, [Table(headers, rows)])


def _table(name: str | None) -> Result:
    import time

    from ordinate.app.cli.progress import StepProgress
    from ordinate.lab.programs.collection import STATIC, find_program
    from ordinate.lab.programs.compiler.compile import cost_table

    chosen = STATIC if name is None else [find_program(name)]
    started = time.monotonic()
    with StepProgress("compile") as progress:

        def report(done: int, every: int) -> None:
            seconds = time.monotonic() - started
            if seconds > PATIENCE:
                progress.report(step=done, steps=every, seconds=seconds)

        rows = cost_table(chosen, report=report)
    return Result(
        {"table": rows}, [Table(list(COLUMNS.values()), [[row[key] for key in COLUMNS] for row in rows])]
    )
