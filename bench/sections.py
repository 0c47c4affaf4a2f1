"""The table of sections, and the one call that runs them."""

from collections.abc import Callable, Iterable
from typing import Any

from bench import (
    attention,
    best_mode,
    data,
    growth,
    numerics,
    peak,
    quality,
    relations,
    steps,
    throughput,
    time_to_quality,
    toeplitz,
)
from bench.rows import Progress, Row
from bench.settings import FULL, Settings
from bench.textbook_models import load_textbook
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.runs import environment

Section = Callable[[Settings, Progress], list[Row]]

_TABLE: dict[str, tuple[str, Section]] = {
    "data": (data.SUMMARY, data.run),
    "numerics": (numerics.SUMMARY, numerics.run),
    "throughput": (throughput.SUMMARY, throughput.run),
    "best-mode": (best_mode.SUMMARY, best_mode.run),
    "quality": (quality.SUMMARY, quality.run),
    "time-to-quality": (time_to_quality.SUMMARY, time_to_quality.run),
    "peak": (peak.SUMMARY, peak.run),
    "growth": (growth.SUMMARY, growth.run),
    "attention": (attention.SUMMARY, attention.run),
    "relations": (relations.SUMMARY, relations.run),
    "toeplitz": (toeplitz.SUMMARY, toeplitz.run),
    "steps": (steps.SUMMARY, steps.run),
}

SECTIONS: dict[str, str] = {name: summary for name, (summary, _) in _TABLE.items()}
"""What can be measured: name and one line."""


def run_sections(
    names: Iterable[str], on_progress: Progress | None = None, settings: Settings = FULL
) -> dict[str, Any]:
    """Run the sections of these names and return the environment and all rows.

    `on_progress` is told what is being measured, one line at a time. A row has the keys section, measure, value,
    unit, target and ok; the last two are None for what is only reported.
    """
    names = list(names)
    for name in names:
        if name not in _TABLE:
            raise OrdinateError(f"no benchmark is called {name!r}: {nearest(name, _TABLE)}")
    load_textbook()
    tell = on_progress or (lambda line: None)
    rows = [row for name in names for row in _run(name, settings, tell)]
    return {"environment": environment(), "rows": rows}


def _run(name: str, settings: Settings, tell: Progress) -> list[dict[str, Any]]:
    section = _TABLE[name][1]
    return [row.to_dict(name) for row in section(settings, lambda line: tell(f"{name}: {line}"))]
