"""Frames: tables with stable names of columns, one row a thing that was measured."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ordinate.lab.evaluation.claims import Claim
from ordinate.lab.report.panels import Drawing

VALUES = (
    *("figure", "panel", "model", "seed", "axis", "point", "in_distribution"),
    *("measure", "value", "failed", "published"),
)
"""Columns of the values of a figure: one row for each model, seed and point of an axis."""

VERDICTS = (
    *("figure", "claim", "verdict", "measured", "low", "high", "level", "needed", "published"),
    *("seeds", "failed", "exact", "scale"),
)
"""Columns of claims with their verdicts."""


def file_name(name: str) -> str:
    """A name as that of a file, or as an address inside a page.

    >>> file_name("symmetry/proposition-5.1"), file_name("positional/value-scale, demo")
    ('symmetry-proposition-5.1', 'positional-value-scale-demo')
    """
    return re.sub(r"[^A-Za-z0-9.-]+", "-", name)


@dataclass(frozen=True)
class Frame:
    """A table: its name, the names of its columns, and rows of text, numbers, truths or nothing."""

    name: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    caption: str = ""

    def __post_init__(self) -> None:
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"{self.name}: a name stands for two columns: {list(self.columns)}")

    def as_dicts(self) -> list[dict[str, object]]:
        """The rows for JSON."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def values_frame(name: str, figure: Drawing, label: str) -> Frame:
    """Every value that a figure shows.

    >>> from ordinate.lab.report.panels import Panel, Series
    >>> figure = Drawing()
    >>> figure.keep(figure.add_subplot(), Panel("sum", "c", "MSE", [Series("RPE", "first", [1, 2], [[0.1, 0.4]])]))
    >>> values_frame("values", figure, "value-scale").rows[1]
    ['value-scale', 'sum', 'RPE', 0, 'c', 2.0, False, 'MSE', 0.4, False, None]
    """
    rows: list[list[object]] = []
    for panel in figure.panels.values():
        for series in panel.series:
            published = {float(x): float(known) for x, known in series.published.items()}
            seeds = series.seeds or range(len(series.table))
            for seed, row in zip(seeds, series.table.tolist(), strict=True):
                for x, number in zip(map(float, series.x), row, strict=True):
                    trained = None if panel.trained_to is None else x <= panel.trained_to
                    value = number if math.isfinite(number) else None
                    place = [label, panel.title, series.label, seed, panel.xlabel, x, trained, panel.ylabel]
                    rows.append([*place, value, value is None, published.get(x)])
    return Frame(name, VALUES, rows, "Every value of the figure, one row a model, seed and point.")


def verdicts_frame(name: str, claims: Sequence[tuple[str, Claim]]) -> Frame:
    """Claims, each with the figure it is of."""
    rows = [
        [
            figure,
            claim.sentence,
            claim.verdict,
            *(_finite(v) for v in (claim.measured.estimate, claim.measured.low, claim.measured.high)),
            claim.measured.level,
            str(claim.predicate),
            claim.published,
            claim.seeds,
            claim.failed,
            claim.exact,
            claim.scale,
        ]
        for figure, claim in claims
    ]
    return Frame(name, VERDICTS, rows, "Claims and verdicts.")


def unique(headers: Sequence[str]) -> list[str]:
    """Headers of which no two are the same: a repeated one is told apart by the header before it.

    >>> unique(["c = 2", "published", "c = 10", "published"])
    ['c = 2', 'published', 'c = 10', 'published (c = 10)']
    """
    found: list[str] = []
    for place, header in enumerate(headers):
        name = header or "name"
        if name in found:
            name = f"{name} ({headers[place - 1]})"
        while name in found:
            name += "'"
        found.append(name)
    return found


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
