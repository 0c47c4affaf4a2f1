"""`ordinate discover`: the places that answers depend on, and the relation they suggest."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ordinate.app.cli.options import Seed, TaskOptions, chosen_task
from ordinate.app.cli.output import Result, Table
from ordinate.errors import OrdinateError
from ordinate.lab.report.numbers import show_number

if TYPE_CHECKING:
    from ordinate.lab.structure.discovery import Discovery, Evidence

ROWS = 10
"""Differences that are shown of one field."""

PATIENCE = 2.0
"""Seconds after which progress is shown."""


def discover(
    task: Annotated[str, typer.Argument(metavar="TASK", help="Name of a task; see ordinate tasks.")],
    options: TaskOptions = None,
    count: Annotated[int, typer.Option(min=1, help="Samples that are drawn.")] = 20_000,
    threshold: Annotated[
        float, typer.Option(help="Dependences that show in a smaller share of the samples are cut.")
    ] = 1e-3,
    seed: Seed = 0,
) -> Result:
    """Find out which places an answer depends on, and propose a relation for attention.

    Every input token is replaced by another draw, and it is counted how often each answer changes.
    """
    import torch

    from ordinate.app.cli.progress import StepProgress
    from ordinate.lab.structure.discovery import discover as find

    torch.set_num_threads(1)
    if not 0 < threshold < 1:
        raise OrdinateError(f"threshold {threshold:g} is no share of samples: write --threshold 0.001")
    chosen = chosen_task(task, options)
    with StepProgress(f"discover {chosen.name}") as progress:

        def report(**facts: Any) -> None:
            if progress.reported or facts["seconds"] >= PATIENCE:
                progress.report(**facts)

        found = find(chosen, count=count, threshold=threshold, seed=seed, report=report)
    return Result({**found.to_dict(), "seed": seed}, _shown(found))


def _shown(found: "Discovery") -> Iterator[Table | str]:
    lengths = " and ".join(str(length) for length in dict.fromkeys(found.lengths))
    kept = f"kept where at least {found.threshold:g} of them change"
    yield f"{found.task.name} at length {lengths}, {found.count} samples; {kept}"
    for evidence in found.evidence:
        if evidence.structure == "still":
            yield f"{evidence.field!r} never changes: for heads to look at where a window finds no key"
            continue
        rows, rest = evidence_rows(evidence, found.threshold)
        title = f"keys in {evidence.field!r}: {evidence.structure}"
        yield Table(["answer minus key", "changes in", ""], rows, title)
        if rest:
            yield rest
    yield ""
    yield f"relation: {found.relation}"
    yield "in a recipe, under [model]:"
    yield found.toml


def evidence_rows(evidence: "Evidence", threshold: float) -> tuple[list[list[str]], str]:
    """The rows of one field, nearest difference first, and a line about those left out.

    >>> from ordinate.lab.structure.discovery import Evidence
    >>> rates = {0: 1.0, 1: 0.25, **dict.fromkeys(range(2, 12), 0.0)}
    >>> evidence_rows(Evidence("first", "window", rates, (0, 1)), 0.1)[1]
    '10 more, all 0'
    """
    from ordinate.lab.structure.discovery import strongest

    shown = [(d, rate) for d, rate in strongest(evidence, ROWS) if rate > 0]
    rows = [[str(d), show_number(rate), "kept" if rate >= threshold else "cut"] for d, rate in shown]
    rest = [rate for d, rate in evidence.rates.items() if d not in dict(shown)]
    if not rest:
        return rows, ""
    return rows, f"{len(rest)} more, " + (f"at most {show_number(max(rest))}" if max(rest) > 0 else "all 0")
