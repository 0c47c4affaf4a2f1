"""`ordinate explain`: what a model does with one input, as pictures, a page and numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Json, ModelName, Seed, Step, StoreFolder
from ordinate.app.cli.output import Result, Table
from ordinate.lab.report.numbers import show_number

if TYPE_CHECKING:
    from ordinate.lab.explain import Ablation, Explanation
    from ordinate.lab.report.explained import Explained
    from ordinate.lab.tasks.base import Task
    from ordinate.lab.tasks.batch import Batch

MOST_ROWS = 30
"""Outputs that the table on the terminal shows."""
STRONGEST = 3
"""Inputs that are named for every output."""


def explain(
    run: ModelName,
    text: Annotated[
        str | None,
        typer.Option(
            "--input", metavar="TEXT", help="The input, as ordinate sample shows it; default a random one."
        ),
    ] = None,
    length: Annotated[
        int | None, typer.Option(min=1, help="Length of a drawn input, and of the samples of --ablate.")
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also set layers, heads and classes to zero and measure again.")
    ] = False,
    count: Annotated[int, typer.Option(min=1, help="Samples that --ablate measures on.")] = 256,
    step: Step = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the page and pictures; default explanation."),
    ] = None,
    seed: Seed = 0,
    store: StoreFolder = None,
    json: Json = False,
) -> Result:
    """Explain what a trained or compiled model does with one input.

    Writes a page, and every picture as PNG and SVG; with --json they are written only where --out is given.
    """
    import torch

    from ordinate.app.cli.progress import SearchProgress
    from ordinate.lab.explain import ablate as ablated
    from ordinate.lab.explain import class_vectors
    from ordinate.lab.explain import explain as explained
    from ordinate.lab.programs.files import read_description, read_labels
    from ordinate.lab.report.explained import Explained
    from ordinate.lab.runs import Store
    from ordinate.lab.zoo.opened import COMPILED, find_model

    torch.set_num_threads(1)
    found = find_model(run, Store(store or Path("runs")), step)
    batch = _sample(found.task, text, length, seed)
    model = found.load()
    labels = read_labels(read_description(found.path)) if found.kind == COMPILED else None
    with SearchProgress("changes") as progress:
        explanation = explained(model, found.task, batch, labels=labels, seed=seed, report=progress.report)
    ablation = None
    if ablate:
        with SearchProgress("parts") as progress:
            ablation = ablated(
                model, found.task, length=length, count=count, seed=seed, report=progress.report
            )
    whole = Explained(found, explanation, class_vectors(model), ablation)
    files: list[Path] = []
    if not json or out is not None:
        again = _command(run, explanation, ablate, length, step, seed)
        with SearchProgress("pictures") as progress:
            files = whole.write(out or Path("explanation"), again, progress.report)
    document = {**whole.to_dict(), "files": [str(path) for path in files]}
    return Result(document, _shown(whole, files))


def _shown(whole: "Explained", files: list[Path]) -> Iterator[Table | str]:
    from ordinate.lab.report.explained import findings

    yield from findings(whole.explanation)
    yield from _outputs(whole.explanation)
    if whole.ablation is not None:
        yield _ablation(whole.ablation)
    yield whole.model.note
    yield f"page: {files[0]}"


def _sample(task: "Task", text: str | None, length: int | None, seed: int) -> "Batch":
    """The input that was typed, or a drawn one."""
    from ordinate.lab.seeds import generator

    if text is not None:
        return task.parse(text)
    return task.tested().sample(1, generator=generator(seed, "sample"), length=length)


def _outputs(explanation: "Explanation") -> Iterator[Table]:
    """A row for every output; of a long answer only wrong ones, as far as they fit."""
    numbered = list(enumerate(explanation.outputs))
    if len(numbered) > MOST_ROWS:
        numbered = [(n, output) for n, output in numbered if not output.correct][:MOST_ROWS]
    rows = []
    for number, output in numbered:
        token = explanation.tokens[output.token]
        rows.append(
            [
                f"{token.field} {token.ordinate}",
                *(v if isinstance(v, str) else show_number(v) for v in (output.answer, output.right)),
                *([] if output.probability is None else [f"{output.probability:.3f}"]),
                *(
                    _strongest(explanation, row)
                    for row in (explanation.effect[number], explanation.rollout[number])
                ),
            ]
        )
    if rows:
        sure = ["probability"] if explanation.kind == "symbols" else []
        yield Table(["output", "answer", "right", *sure, "changed most by", "rollout"], rows)


def _strongest(explanation: "Explanation", row: Any) -> str:
    """The inputs with the largest numbers, largest first."""
    values, tokens = row.topk(min(STRONGEST, len(row)))
    named = [
        f"{explanation.tokens[token].label} ({show_number(round(value, 3))})"
        for value, token in zip(values.tolist(), tokens.tolist(), strict=True)
        if value > 0.005
    ]
    return ", ".join(named) or "nothing"


def _ablation(ablation: "Ablation") -> Table:
    rows = [
        [row.part, row.kind, f"{row.accuracy:.3f}", f"{row.change:+.3f}", show_number(row.loss)]
        for row in ablation.rows
    ]
    title = (
        f"set to zero: {ablation.count} samples at {ablation.axis} {ablation.value:g}, "
        f"whole model {ablation.accuracy:.3f}"
    )
    return Table(["part", "kind", "accuracy", "change", "loss"], rows, title)


def _command(
    run: str, explanation: "Explanation", ablate: bool, length: int | None, step: int | None, seed: int
) -> str:
    """What to type to get this again."""
    from shlex import join

    words = ["ordinate", "explain", run, "--input", explanation.input]
    words += ["--ablate"] * ablate
    for name, value in (("length", length), ("step", step), ("seed", seed or None)):
        words += [] if value is None else [f"--{name}", str(value)]
    return join(words)
