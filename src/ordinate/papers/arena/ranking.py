"""The ranking of the arena: who is first, and how sure that is.

Points of an entrant in a contest are its mean accuracy at 2, 4 and 10 times what training shows, over seeds; 0 where it
did not learn the task. They are summed over contests.

How far points and ranks would move with other seeds and other tests is found by drawing both again: in a draw every
cell takes its seeds with replacement and, of n tests at a point of which a share p was right, Binomial(n, p) / n.
Whether the task was learned is judged anew in every draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from ordinate.lab.evaluation.statistics import percentile
from ordinate.papers.arena.scores import Score, is_learned

DRAWS = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class Place:
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


def ranked(scores: Sequence[Score], count: int) -> list[Place]:
    """Entrants by points, from scores with `count` tests at a point; those who learned nothing are last."""
    rng = np.random.default_rng(0)
    drawn: dict[str, Float[ndarray, " draw"]] = {}
    points: dict[str, float] = {}
    for score in scores:
        points[score.entrant] = points.get(score.entrant, 0.0) + _points(score)
        drawn[score.entrant] = drawn.get(score.entrant, np.zeros(DRAWS)) + _drawn(score, count, rng)
    ranks = dict(zip(drawn, _ranks(np.stack(list(drawn.values()))), strict=True)) if drawn else {}
    places = []
    for entrant, total in points.items():
        mine = [score for score in scores if score.entrant == entrant and not score.absent]
        around = percentile(total, drawn[entrant], LEVEL)
        between = percentile(0.0, ranks[entrant].astype(np.float64), LEVEL)
        places.append(
            Place(
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


def _points(score: Score) -> float:
    return float(score.beyond.mean()) if score.learned else 0.0


def _drawn(score: Score, count: int, rng: np.random.Generator) -> Float[ndarray, " draw"]:
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
