"""Scores of the arena: what the runs of a cell measured, whether the task was learned, and who is first.

A cell whose median over seeds does not reach `LEARNED` in distribution is not ranked: what a model does beyond
training says nothing where it does not do the task.

Points of an entrant in a contest are its mean accuracy at 2, 4 and 10 times what training shows, over seeds; 0 where it
did not learn the task. They are summed over contests.

How far points and ranks would move with other seeds and other tests is found by drawing both again: in a draw every
cell takes its seeds with replacement and, of n tests at a point of which a share p was right, Binomial(n, p) / n.
Whether the task was learned is decided again in every draw.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray

from ordinate.lab.evaluation.statistics import percentile
from ordinate.lab.runs import Run
from ordinate.papers.arena.cells import Cell
from ordinate.papers.arena.contests import FACTORS
from ordinate.papers.sheets import points_of

LEARNED = 0.9
"""Share of sequences that are right in distribution, in the median over seeds."""
DRAWS = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Score:
    """What the runs of one cell measured along one axis, a row a seed; `None` where a seed failed or refuses."""

    contest: str
    entrant: str
    absent: str
    learned: bool
    inside: list[float | None]
    """Accuracy in distribution."""
    values: list[list[float | None]]
    """Accuracy at every multiple."""
    refused: list[int]
    """Multiples that the encoding cannot be asked for."""
    parameters: int | None
    seconds: float
    failed: list[str]
    losses: list[float]
    """Of the last steps of training, of the seeds that ended."""

    @property
    def beyond(self) -> Float[ndarray, "seed factor"]:
        """Accuracy at the multiples beyond training; 0 where one is refused and where a seed failed."""
        return np.array([[value or 0.0 for value in row[1:]] for row in self.values])

    @property
    def medians(self) -> list[float | None]:
        """Over seeds at every multiple, failed ones counting 0; `None` where it is refused."""
        return [
            None if factor in self.refused else median(row[place] or 0.0 for row in self.values)
            for place, factor in enumerate(FACTORS)
        ]


def score(cell: Cell, runs: Sequence[Run], axis: str) -> Score:
    """Read what the runs of a cell stored."""
    points = [points_of(run) if run.status == "done" else {} for run in runs]
    inside = [_plain(found, "validation", "accuracy") for found in points]
    names = [_name(cell, axis, factor) for factor in FACTORS]
    return Score(
        contest=cell.contest.name,
        entrant=cell.entrant.name,
        absent=cell.absent,
        learned=bool(runs) and bool(is_learned(np.array(inside, dtype=np.float64))),
        inside=inside,
        values=[[_plain(found, name, "accuracy") for name in names] for found in points],
        refused=[
            f for f in FACTORS if axis == "length" and cell.recipe is not None and f not in cell.reached
        ],
        parameters=next((run.record().get("parameters") for run in runs), None),
        seconds=round(sum(run.record().get("seconds") or 0.0 for run in runs), 1),
        failed=[str(run.record().get("error") or run.status) for run in runs if run.status != "done"],
        losses=[_last_loss(run) for run in runs if run.status == "done"],
    )


def same_models(scores: Sequence[Score]) -> dict[tuple[str, ...], list[str]]:
    """Entrants that are one model under several names, and in which contests: their losses are equal bit by bit."""
    alike: dict[tuple[str, tuple[float, ...]], list[str]] = {}
    for found in scores:
        if found.losses:
            alike.setdefault((found.contest, tuple(found.losses)), []).append(found.entrant)
    same: dict[tuple[str, ...], list[str]] = {}
    for (contest, _), names in alike.items():
        if len(names) > 1:
            same.setdefault(tuple(names), []).append(contest)
    return same


def is_learned(inside: Float[ndarray, "*draw seed"]) -> Bool[ndarray, "*draw"]:
    """Whether the median seed does the task in distribution; one that failed counts as not.

    >>> is_learned(np.array([[0.95, 0.91, np.nan], [0.95, 0.5, 0.5]]))
    array([ True, False])
    """
    return np.asarray(np.median(np.nan_to_num(inside), axis=-1) >= LEARNED)


def _name(cell: Cell, axis: str, factor: int) -> str:
    if axis == "scale" and factor == 1:
        return "validation"
    return f"{axis}={cell.contest.at(axis, factor):g}"


def _last_loss(run: Run) -> float:
    return float([row["loss"] for row in run.metrics() if "loss" in row][-1])


def _plain(points: dict[str, dict[str, Any]], name: str, field: str) -> float | None:
    value = points.get(name, {}).get(field)
    return None if value is None or not math.isfinite(value) else float(value)


@dataclass(frozen=True)
class Rank:
    """An entrant over all contests."""

    entrant: str
    points: float
    interval: tuple[float, float]
    """Of the points, at 95 %."""
    ranks: tuple[int, int]
    """The best and the worst rank, at 95 %; equal points share the better one."""
    learned: int
    contests: int
    """In which it takes part."""


def ranked(scores: Sequence[Score], count: int) -> list[Rank]:
    """Entrants by points, from scores with `count` tests at a point; those who learned nothing are last."""
    rng = np.random.default_rng(0)
    drawn: dict[str, Float[ndarray, " draw"]] = {}
    points: dict[str, float] = {}
    for score in scores:
        points[score.entrant] = points.get(score.entrant, 0.0) + _points_of(score)
        drawn[score.entrant] = drawn.get(score.entrant, np.zeros(DRAWS)) + _redrawn(score, count, rng)
    ranks = dict(zip(drawn, _ranks(np.stack(list(drawn.values()))), strict=True)) if drawn else {}
    places = []
    for entrant, total in points.items():
        mine = [score for score in scores if score.entrant == entrant and not score.absent]
        around = percentile(total, drawn[entrant], LEVEL)
        between = percentile(0.0, ranks[entrant].astype(np.float64), LEVEL)
        places.append(
            Rank(
                entrant,
                total,
                (around.low, around.high),
                (int(between.low), int(between.high)),
                sum(score.learned for score in mine),
                len(mine),
            )
        )
    return sorted(
        places, key=lambda place: (-place.points, -place.learned, not place.contests, place.entrant)
    )


def _points_of(score: Score) -> float:
    return float(score.beyond.mean()) if score.learned else 0.0


def _redrawn(score: Score, count: int, rng: np.random.Generator) -> Float[ndarray, " draw"]:
    """The points of a cell with other seeds and other tests."""
    if not score.values:
        return np.zeros(DRAWS)
    seeds = len(score.values)
    picks = rng.integers(seeds, size=(DRAWS, seeds))
    inside = np.nan_to_num(np.array(score.inside, dtype=np.float64))
    learned = is_learned(rng.binomial(count, inside[picks]) / count)
    right = rng.binomial(count, score.beyond[picks]) / count
    return np.asarray(right.mean((1, 2)) * learned)


def _ranks(points: Float[ndarray, "entrant draw"]) -> Int[ndarray, "entrant draw"]:
    """1 and the number of those that have more.

    >>> _ranks(np.array([[3.0], [1.0], [3.0], [0.0]])).T
    array([[1, 3, 1, 4]])
    """
    return np.asarray(1 + (points[None] > points[:, None]).sum(1))
