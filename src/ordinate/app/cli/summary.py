"""Runs as tables: scores of every seed at every point, failed seeds included."""

import math
from collections.abc import Sequence
from typing import Any

from ordinate.app.cli.output import print_table, say
from ordinate.lab.evaluation.claims import FEWEST_SEEDS
from ordinate.lab.evaluation.points import metric_of_task
from ordinate.lab.evaluation.statistics import summarise
from ordinate.lab.report.numbers import show_interval, show_number
from ordinate.lab.runs import Run

_ABREAST = 8
"""Seeds side by side in one table."""


def seeds_note(seeds: int) -> str | None:
    """Say that few seeds carry no verdict; nothing where they are enough.

    >>> seeds_note(1)
    'one seed, no verdict'
    """
    if seeds >= FEWEST_SEEDS:
        return None
    return "one seed, no verdict" if seeds == 1 else f"{seeds} seeds, no verdict"


def run_facts(run: Run) -> dict[str, Any]:
    """Return what is known of a run for JSON; the keys are stable."""
    record = run.record()
    facts = {
        key: record.get(key)
        for key in ("status", "step", "steps", "parameters", "samples_seen", "seconds", "averaged", "error")
    }
    evaluation = run.read_result("evaluation") if "evaluation" in run.results() else []
    scores = record.get("scores") or {}
    return {
        "id": run.id,
        "seed": run.seed,
        "path": str(run.path),
        **facts,
        "scores": scores,
        "evaluation": evaluation,
    }


def show_runs(runs: Sequence[Run]) -> None:
    """Print scores (rows: points; columns: seeds), what failed, and the folders."""
    facts = [run_facts(run) for run in runs]
    metric = metric_of_task(str(runs[0].recipe["task"]["name"]))
    points = list(dict.fromkeys(name for f in facts for name in f["scores"]))
    for first in range(0, len(facts), _ABREAST):
        part = facts[first : first + _ABREAST]
        headers = [metric, *(f"seed {f['seed']}" for f in part)]
        rows = [[point, *(_score(f, point) for f in part)] for point in points or ["validation"]]
        if first + _ABREAST >= len(facts) and len(facts) >= FEWEST_SEEDS:
            headers.append("median [95 % interval]")
            for row, point in zip(rows, points, strict=False):
                values = [float(f["scores"].get(point, math.nan)) for f in facts]
                row.append(show_interval(summarise(values).interval))
        rows = [row + [""] * (len(headers) - len(row)) for row in rows]
        print_table(headers, rows)
    for f in facts:
        if f["status"] == "failed":
            say(f"seed {f['seed']} failed: {f['error']}")
    first_facts = facts[0]
    say(f"{show_number(first_facts['parameters'])} parameters, {show_number(_seen(facts))} samples seen")
    if any(f["averaged"] for f in facts):
        say("measured with averaged weights")
    if note := seeds_note(len(facts)):
        say(note)
    for f in facts:
        say(f"{f['status']:8} {f['path']}")


def _seen(facts: Sequence[dict[str, Any]]) -> int | None:
    return max((f["samples_seen"] for f in facts if f["samples_seen"] is not None), default=None)


def _score(facts: dict[str, Any], point: str) -> str:
    return "failed" if facts["status"] == "failed" else show_number(facts["scores"].get(point))
