"""`ordinate reproduce`: a figure of a paper, from training to verdicts."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from ordinate.app.cli.options import Address, EngineName, Json, Workers
from ordinate.app.cli.output import Result, Table, counted, note, show
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.report.numbers import show_interval, show_number

SIGNS = {
    "supported": "✓ supported",
    "contradicted": "✗ contradicted",
    "inconclusive": "? inconclusive",
    None: "○ no verdict",
}

VERDICTS = ["verdict", "claim", "measured", "needed", "published", "seeds"]
"""Columns of a table of verdicts."""

CORES = " on 2 cores"
"""What scale laptop is sized for: the head of the column says it once."""
_TIME = re.compile(r"(?:^|[,;:] )(?:and )?([^,;:]*\b(?:second|minute|hour)s?\b.*)$")


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
) -> Result:
    """Reproduce figures: train what is missing, measure, judge the claims, draw and write a report.

    Scales: smoke proves the path and gives no verdict, demo is a first look, laptop gives verdicts, paper is the
    published setting. The same command again goes on where it was stopped, with the same engine or another. What a
    figure computes without training is computed here, whatever the engine.
    """
    from ordinate.papers import FIGURES

    chosen = choose_figures(figure, FIGURES)
    if names:
        return Result({"figures": figure_facts(chosen)}, listed_figures(chosen))
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
                show(_shown(results[-1], each.name, scale))
    failed = any(result.failed for result in results)
    document = {
        **{"scale": scale, "out": str(out), "engine": engine, "failed": failed},
        "verdicts": verdict_facts(results),
        "figures": [result.to_dict() for result in results],
    }
    return Result(document, _verdicts(results, scale) if len(results) > 1 else (), failed=failed)


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


def _shown(result: Any, name: str, scale: str) -> Iterator[Table | str]:
    """The table, the verdicts and where the report is."""
    headers, rows = result.table
    yield Table(headers, rows, f"{name}, scale {scale}")
    verdicts = [_verdict_row(claim) for claim in result.claims]
    if verdicts:
        yield Table(VERDICTS, verdicts)
        yield from dict.fromkeys(claim.reason for claim in result.claims if claim.verdict != "supported")
    if note := result.document.get("note"):
        yield note
    for kind, path in result.files.items():
        if kind == "html":
            yield f"report: {path}"


def verdict_facts(results: Sequence[Any]) -> list[dict[str, Any]]:
    """Every claim of every figure, for JSON: which figure it is of, and the claim with its verdict."""
    return [
        {"figure": result.document["figure"], **claim.to_dict()}
        for result in results
        for claim in result.claims
    ]


def _verdicts(results: Sequence[Any], scale: str) -> Iterator[Table | str]:
    """One table of all claims, and how many got which verdict."""
    rows = [
        [result.document["figure"], *_verdict_row(claim)] for result in results for claim in result.claims
    ]
    if not rows:
        return
    yield Table(["figure", *VERDICTS], rows, f"all verdicts, scale {scale}")
    counts = Counter(claim.verdict for result in results for claim in result.claims)
    tally = (f"{counts[verdict]} {sign[2:]}" for verdict, sign in SIGNS.items() if counts[verdict])
    yield (f"{counted(len(rows), 'claim')} of {counted(len(results), 'figure')}: {', '.join(tally)}")


def _verdict_row(claim: Any) -> list[str]:
    return [
        SIGNS[claim.verdict],
        claim.sentence,
        show_number(claim.measured.estimate) if claim.exact else show_interval(claim.measured),
        str(claim.predicate),
        show_number(claim.published),
        claim.basis,
    ]


def figure_facts(figures: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What there is, for JSON; the keys are stable."""
    return [
        {
            "name": name,
            "paper": _paper(name),
            "summary": figure.summary,
            "scales": dict(figure.scales),
        }
        for name, figure in figures.items()
    ]


def listed_figures(figures: Mapping[str, Any]) -> Iterator[Table | str]:
    """A table a paper with a line a figure; of a figure that is alone, all that is said of it."""
    if len(figures) == 1:
        ((name, figure),) = figures.items()
        yield f"{name}  {figure.title}"
        yield figure.summary
        yield Table(["scale", "what it is"], list(figure.scales.items()))
        return
    headers = ["figure", "what it is", "scales", f"laptop{CORES}"]
    for paper, names in groupby(figures, _paper):
        rows = [overview_row(name, figures[name]) for name in names]
        yield Table(headers, rows, f"{paper}/")
    yield (f"all about one: ordinate reproduce {next(iter(figures))} --list")


def overview_row(name: str, figure: Any) -> list[str]:
    """One line of the overview: name without the paper, title, scales, and how long scale laptop takes."""
    time = time_said(figure.scales.get("laptop", "")).replace(CORES, "")
    return [name.partition("/")[2], figure.title, " ".join(figure.scales), time]


def time_said(description: str) -> str:
    """Return the end of a scale's description, from the clause on that says how long it takes.

    >>> time_said("two tasks, three seeds, about 10 minutes on 2 cores, less after exp-1b")
    'about 10 minutes on 2 cores, less after exp-1b'
    >>> time_said("appendix B as written, for GPUs")
    ''
    """
    found = _TIME.search(description)
    return found[1] if found else ""


def _paper(name: str) -> str:
    return name.split("/")[0]
