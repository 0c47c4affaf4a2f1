"""`ordinate reproduce`: a figure of a paper, from training to verdicts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ordinate.app.cli.failures import FAILED
from ordinate.app.cli.options import Address, EngineName, Json, Workers
from ordinate.errors import OrdinateError, nearest

SIGNS = {
    "supported": "✓ supported",
    "contradicted": "✗ contradicted",
    "inconclusive": "? inconclusive",
    None: "○ no verdict",
}

VERDICTS = ["verdict", "claim", "measured", "needed", "published", "seeds"]
"""Columns of a table of verdicts."""


def reproduce(
    figure: Annotated[
        str | None, typer.Argument(metavar="[PAPER[/FIGURE]]", help="One figure, or all of a paper, or all.")
    ] = None,
    scale: Annotated[str, typer.Option(help="smoke, demo, laptop or paper.")] = "laptop",
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of results.")] = Path("reproductions"),
    names: Annotated[bool, typer.Option("--list", help="Name the figures, their scales and times.")] = False,
    engine: EngineName = "local",
    address: Address = None,
    workers: Workers = None,
    json: Json = False,
) -> None:
    """Reproduce figures: train what is missing, measure, judge the claims, draw and write a report.

    Scales: smoke proves the path and gives no verdict, demo is a first look, laptop gives verdicts, paper is the
    published setting. The same command again goes on where it was stopped, with the same engine or another. What a
    figure computes without training is computed here, whatever the engine.
    """
    from ordinate.app.cli.output import counted, note, print_json
    from ordinate.papers import FIGURES

    chosen = choose_figures(figure, FIGURES)
    if names:
        from ordinate.app.cli.figure_list import figure_facts, show_figures

        if json:
            print_json({"figures": figure_facts(chosen)})
        else:
            show_figures(chosen)
        return
    for each in chosen.values():
        each.check(scale)

    from ordinate.app.cli.progress import JobProgress
    from ordinate.lab.runs.engine import open_engine

    results = []
    with open_engine(engine, address=address, workers=workers) as runner:
        for each in chosen.values():
            jobs = each.jobs(scale, out)
            work = f"{counted(len(jobs), 'job')} on {counted(runner.workers, 'worker')}"
            note(f"{each.name} at scale {scale}: {work}, engine {engine}")
            with JobProgress(each.name, total=len(jobs)) as progress:
                results.append(each.reproduce(scale, out, engine=runner, on_event=progress))
            if not json:
                _show(results[-1], each.name, scale)
    failed = any(result.failed for result in results)
    if json:
        figures = [result.to_dict() for result in results]
        facts = {"scale": scale, "out": str(out), "engine": engine, "failed": failed}
        print_json({**facts, "verdicts": verdict_facts(results), "figures": figures})
    elif len(results) > 1:
        _show_verdicts(results, scale)
    if failed:
        raise typer.Exit(FAILED)


def choose_figures(name: str | None, figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figures that a name stands for: one, all of a paper, or all when there is none.

    >>> list(choose_figures("a", {"a/x": 1, "a/y": 2, "b/x": 3}))
    ['a/x', 'a/y']
    """
    if name is None:
        return dict(figures)
    wanted = name.strip("/")
    if wanted in figures:
        return {wanted: figures[wanted]}
    found = {key: figures[key] for key in figures if key.startswith(f"{wanted}/")}
    if not found or not wanted:
        known = [*figures, *{key.split("/")[0] for key in figures}]
        raise OrdinateError(f"there is no figure {name!r}: {nearest(name, known)}")
    return found


def _show(result: Any, name: str, scale: str) -> None:
    """Print the table, the verdicts and where the report is."""
    from ordinate.app.cli.output import print_table, say

    headers, rows = result.table
    print_table(headers, rows, title=f"{name}, scale {scale}")
    verdicts = [_verdict_row(claim) for claim in result.claims]
    if verdicts:
        print_table(VERDICTS, verdicts)
        for reason in dict.fromkeys(claim.reason for claim in result.claims if claim.verdict != "supported"):
            say(reason)
    if note := result.document.get("note"):
        say(note)
    for kind, path in result.files.items():
        if kind == "html":
            say(f"report: {path}")


def verdict_facts(results: Sequence[Any]) -> list[dict[str, Any]]:
    """Every claim of every figure, for JSON: which figure it is of, and the claim with its verdict."""
    return [
        {"figure": result.document["figure"], **claim.to_dict()}
        for result in results
        for claim in result.claims
    ]


def _show_verdicts(results: Sequence[Any], scale: str) -> None:
    """Print one table of all claims, and how many got which verdict."""
    from ordinate.app.cli.output import counted, print_table, say

    rows = [
        [result.document["figure"], *_verdict_row(claim)] for result in results for claim in result.claims
    ]
    if not rows:
        return
    print_table(["figure", *VERDICTS], rows, title=f"all verdicts, scale {scale}")
    counts = Counter(claim.verdict for result in results for claim in result.claims)
    tally = (f"{counts[verdict]} {sign[2:]}" for verdict, sign in SIGNS.items() if counts[verdict])
    say(f"{counted(len(rows), 'claim')} of {counted(len(results), 'figure')}: {', '.join(tally)}")


def _verdict_row(claim: Any) -> list[str]:
    from ordinate.lab.report.numbers import show_interval, show_number

    return [
        SIGNS[claim.verdict],
        claim.sentence,
        show_number(claim.measured.estimate) if claim.exact else show_interval(claim.measured),
        str(claim.predicate),
        show_number(claim.published),
        claim.basis,
    ]
