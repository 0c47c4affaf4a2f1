"""Scores of the arena: what the runs of a cell measured, whether the task was learned, and who is first.

A cell whose median over seeds does not reach `LEARNED` in distribution is not ranked: what a model does beyond
training says nothing where it does not do the task. Elsewhere its points are the mean accuracy at 2, 4 and 10 times
what training shows; a multiple that an encoding refuses counts 0, and so does a seed that failed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from ordinate.papers.arena.cells import Cell
from ordinate.papers.arena.contests import FACTORS
from ordinate.runs import Run

LEARNED = 0.9
"""Exact match in distribution of tasks on symbols."""
LEFT = 0.01
"""Of tasks on numbers: the share of the variance that may be left in distribution."""


@dataclass(frozen=True)
class Score:
    """What the runs of one cell measured along one axis, a row a seed; `None` where a seed failed or refuses."""

    contest: str
    entrant: str
    absent: str
    learned: bool
    inside: list[float | None]
    """Accuracy in distribution."""
    left: list[float | None]
    """Share of the variance that is left in distribution; of tasks on numbers."""
    values: list[list[float | None]]
    """Accuracy at every multiple."""
    refused: list[int]
    """Multiples that the encoding cannot be asked for."""
    parameters: int | None
    seconds: float
    failed: list[str]

    @property
    def medians(self) -> list[float | None]:
        """Over seeds at every multiple, failed ones counting 0; `None` where it is refused."""
        return [
            None if factor in self.refused else median(row[place] or 0.0 for row in self.values)
            for place, factor in enumerate(FACTORS)
        ]

    def points(self, seed: int) -> float:
        """Mean accuracy of one seed beyond training; 0 where the task was not learned."""
        return mean(value or 0.0 for value in self.values[seed][1:]) if self.learned else 0.0


def score(cell: Cell, runs: Sequence[Run], axis: str) -> Score:
    """Read what the runs of a cell stored."""
    points = [_points(run) for run in runs]
    inside = [_plain(found, "validation", "accuracy") for found in points]
    left = [_plain(found, "validation", "variance_share") for found in points]
    if cell.contest.numeric:
        learned = median(math.inf if share is None else share for share in left) <= LEFT if left else False
    else:
        learned = median(share or 0.0 for share in inside) >= LEARNED if inside else False
    names = [_name(cell, axis, factor) for factor in FACTORS]
    return Score(
        contest=cell.contest.name,
        entrant=cell.entrant.name,
        absent=cell.absent,
        learned=learned,
        inside=inside,
        left=left if cell.contest.numeric else [],
        values=[[_plain(found, name, "accuracy") for name in names] for found in points],
        refused=[
            f for f in FACTORS if axis == "length" and cell.recipe is not None and f not in cell.reached
        ],
        parameters=next((run.record().get("parameters") for run in runs), None),
        seconds=round(sum(run.record().get("seconds") or 0.0 for run in runs), 1),
        failed=[str(run.record().get("error") or run.status) for run in runs if run.status != "done"],
    )


def _name(cell: Cell, axis: str, factor: int) -> str:
    if axis == "scale" and factor == 1:
        return "validation"
    return f"{axis}={cell.contest.at(axis, factor):g}"


def _points(run: Run) -> dict[str, dict[str, Any]]:
    """The points of a run by name; none of one that did not end."""
    if run.status != "done":
        return {}
    points = run.read_result("evaluation")
    return {f"{p['axis']}={p['value']:g}": p for p in points} | {"validation": points[0]}


def _plain(points: dict[str, dict[str, Any]], name: str, field: str) -> float | None:
    value = points.get(name, {}).get(field)
    return None if value is None or not math.isfinite(value) else float(value)


@dataclass(frozen=True)
class Place:
    """An entrant over all contests."""

    entrant: str
    points: float
    """Mean over seeds of the sum over contests."""
    spread: tuple[float, float]
    """Least and most of one seed."""
    learned: int
    contests: int
    """In which it takes part."""


def ranked(scores: Sequence[Score]) -> list[Place]:
    """Entrants by points, summed over contests; those who learned nothing are last, by name."""
    places = []
    for entrant in dict.fromkeys(score.entrant for score in scores):
        mine = [score for score in scores if score.entrant == entrant and not score.absent]
        seeds = max((len(score.values) for score in mine), default=0)
        each = [sum(score.points(seed) for score in mine) for seed in range(seeds)] or [0.0]
        places.append(
            Place(
                entrant,
                mean(each),
                (min(each), max(each)),
                sum(score.learned for score in mine),
                len(mine),
            )
        )
    return sorted(places, key=lambda place: (-place.points, -place.learned, place.entrant))
