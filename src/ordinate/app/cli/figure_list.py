"""What `ordinate reproduce --list` prints: an overview of many figures, or all about one."""

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Any

CORES = " on 2 cores"
"""What scale laptop is sized for: the head of the column says it once."""
_TIME = re.compile(r"(?:^|[,;:] )(?:and )?([^,;:]*\b(?:second|minute|hour)s?\b.*)$")


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


def show_figures(figures: Mapping[str, Any]) -> None:
    """Print a table a paper with a line a figure; of a figure that is alone, all that is said of it."""
    from ordinate.app.cli.output import print_table, say

    if len(figures) == 1:
        ((name, figure),) = figures.items()
        say(f"{name}  {figure.title}")
        say(figure.summary)
        print_table(["scale", "what it is"], list(figure.scales.items()))
        return
    headers = ["figure", "what it is", "scales", f"laptop{CORES}"]
    for paper, names in groupby(figures, _paper):
        rows = [overview_row(name, figures[name]) for name in names]
        print_table(headers, rows, title=f"{paper}/")
    say(f"all about one: ordinate reproduce {next(iter(figures))} --list")


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
