"""Figures of the arena: a map for every contest, and a table of who is first."""

from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from matplotlib.figure import Figure as Drawing

from ordinate.encodings import ENCODINGS, NoPosition
from ordinate.lab.evaluation.statistics import coverage_ceiling
from ordinate.lab.report.heat import Heat, heat_maps
from ordinate.lab.report.numbers import show_share
from ordinate.lab.studies import Study
from ordinate.papers.arena.cells import SIZES, Cell, Size, cells
from ordinate.papers.arena.contests import FACTORS
from ordinate.papers.arena.entrants import behind_mask
from ordinate.papers.arena.ranking import DRAWS, Place, ranked
from ordinate.papers.arena.scores import LEARNED, Score, same_models, score
from ordinate.papers.trained import Trained

COLUMNS = 3
"""Maps side by side."""
REFUSED, ABSENT, NOT_LEARNED = "refused", "-", "not learned"


class Arena(Trained):
    """All encodings in all contests that have an axis, cell by cell: what is in the store is not trained again."""

    axis: ClassVar[str]
    scales: ClassVar[dict[str, str]] = {
        "smoke": "four encodings and yours on two tasks for three steps, proves the path in seconds; no verdict",
        "laptop": "all encodings, nine tasks, three seeds, 1200 steps: at most 8 hours on 2 cores",
        "paper": "all encodings, nine tasks, five seeds, 50000 steps of larger models on longer inputs, for GPUs",
    }

    def size(self, scale: str) -> Size:
        """The model and the budget of a scale."""
        return SIZES[scale]

    def cells(self, scale: str) -> list[Cell]:
        """The cells of the contests that have this axis."""
        return [cell for cell in cells(self.size(scale)) if self.axis in cell.contest.task.axes]

    def study(self, scale: str, store: Path) -> Study:
        """Every cell with every seed."""
        recipes = tuple(cell.recipe for cell in self.cells(scale) if cell.recipe is not None)
        return Study(recipes, tuple(range(self.size(scale).seeds)), store)

    def measure(self, scale: str, study: Study) -> dict[str, Any]:
        """Scores of all cells, and the ranking."""
        all_cells = self.cells(scale)
        scores = [
            score(cell, [] if cell.recipe is None else study.runs(cell.recipe), self.axis)
            for cell in all_cells
        ]
        places = ranked(scores, self.size(scale).count)
        return {
            "settings": self._settings(scale, study),
            "axis": self.axis,
            "factors": list(FACTORS),
            "contests": {cell.contest.name: cell.contest.told for cell in all_cells},
            "trained": {cell.contest.name: cell.contest.length for cell in all_cells},
            "declared": sorted({cell.entrant.name for cell in all_cells if cell.entrant.declared}),
            "own": sorted({c.entrant.name for c in all_cells if c.entrant.own and not c.entrant.causal}),
            "ranking": [
                asdict(place) | {"interval": list(place.interval), "ranks": list(place.ranks)}
                for place in places
            ],
            "scores": [asdict(found) for found in scores],
            "same_models": [
                {"entrants": list(names), "contests": where} for names, where in same_models(scores).items()
            ],
            "claims": [],
            "table": table_of(scores, places),
        }

    def _settings(self, scale: str, study: Study) -> dict[str, Any]:
        chosen = self.size(scale)
        return {
            "model": f"encoder, {chosen.layers} layers, {chosen.heads} heads, width {chosen.width}, "
            f"hidden {chosen.hidden}",
            "trainings": len(study.recipes) * chosen.seeds,
            "seeds": chosen.seeds,
            "steps": chosen.steps,
            "batch": chosen.batch,
            "optimizer": f"{chosen.training.steps_by}; averaged weights",
            "test samples at each point": chosen.count,
        }

    def draw(self, document: dict[str, Any]) -> Drawing:
        """A map a contest: encodings by rank from above, multiples from left to right."""
        return heat_maps([heat_of(document, name) for name in document["contests"]], columns=COLUMNS)

    def caption(self, document: dict[str, Any]) -> str:
        """Say what the numbers are and what is not shown."""
        seeds = document["settings"]["seeds"]
        along = "length" if self.axis == "length" else "range of values"
        return (
            f"Per cent right, rounded down, all answers of a sequence, medians over {seeds} seeds, at 1, 2, 4 and 10 "
            f"times the {along} of training; encodings by points. Where a "
            f"task was not learned the column in distribution is shown alone. '{REFUSED}': the encoding has no "
            f"position there; '{ABSENT}': it has no place in the contest."
        )

    def notes(self, document: dict[str, Any]) -> list[str]:
        """State the rules, what encodings were told, and what did not end."""
        scale = document["scale"]
        absent = {
            f"{s['entrant']} in {s['contest']}: {s['absent']}" for s in document["scores"] if s["absent"]
        }
        told = [f"{name}: {why}" for name, why in document["contests"].items()]
        notes = [
            f"Scale {scale}: {self.scales[scale]}.",
            "Model, optimiser, steps and batches are the same in all cells; parameters differ by those of the "
            "encoding.",
            f"Learned: at least {LEARNED:.0%} of sequences right in distribution, in the median over seeds. Answers "
            "that are numbers are right within 0.1 + 10 %.",
            "Points: mean accuracy at 2, 4 and 10 times, summed over contests, mean over seeds; 0 where a task was not "
            "learned, where a length is refused, for a seed that failed, and where an encoding takes no part.",
            f"Intervals of points and ranks: {DRAWS} draws of other seeds and other tests, in each of which is judged "
            f"anew what was learned. Seeds are few: the range of {document['settings']['seeds']} holds the median of "
            f"all with a probability of {coverage_ceiling(document['settings']['seeds']):.0%}, so neighbours whose "
            "ranks overlap are not told apart, and others only so far.",
            "The encoder looks both ways. 'none, causal' is no position behind a causal mask, as NoPE is published. "
            "Biases that are alike on both sides cannot tell left from right in such an encoder; they are published "
            "for models that look back only, and take part behind a causal mask too: "
            f"{', '.join(_alike(document)) or 'none of these'}. A causal model cannot sort in place.",
            f"Given a relation of the task: {', '.join(document['declared'])}. {'; '.join(told)}.",
            f"In k-hop one sample of {1 + self.size(scale).lengths.hops} has no hop and only repeats its letters, "
            "which takes no positions. In sort, numbers that lie close together are all right by their mean.",
            *_own(document),
            f"Not taking part: {'; '.join(sorted(absent)) or 'nobody'}.",
            f"One model under several names, losses equal bit by bit: {_named(document['same_models'])}.",
            "What happens beyond training, as each encoding states it: "
            + "; ".join(
                f"{place['entrant']}: {ENCODINGS[place['entrant']].extrapolation}"
                for place in document["ranking"]
                if place["entrant"] in ENCODINGS
            )
            + ".",
        ]
        if scale not in ("laptop", "paper"):
            notes.append("This scale gives no verdict.")
        return notes + [f"Did not end: {line.strip().splitlines()[-1]}" for line in document["not_ended"]]


class ArenaLengths(Arena):
    """Beyond the trained length."""

    name: ClassVar[str] = "arena/lengths"
    title: ClassVar[str] = "The arena: all encodings beyond the trained length"
    summary: ClassVar[str] = (
        "Every encoding of the library in one model with one budget, on addition, one-digit multiplication, sorting, "
        "cumulative sums, copying, reversing, parity, counting modulo 5 and k-hop: accuracy at 1, 2, 4 and 10 times "
        "the trained length."
    )
    axis: ClassVar[str] = "length"


class ArenaValues(Arena):
    """Beyond the trained values."""

    name: ClassVar[str] = "arena/values"
    title: ClassVar[str] = "The arena: all encodings beyond the trained values"
    summary: ClassVar[str] = (
        "The same trainings on the tasks whose inputs are numbers, sorting and cumulative sums: accuracy at 1, 2, 4 "
        "and 10 times the range of values of training."
    )
    axis: ClassVar[str] = "scale"


def table_of(scores: list[Score], places: list[Place]) -> dict[str, Any]:
    """A row an encoding, best first: points, and for every contest what stands in its map."""
    contests = list(dict.fromkeys(found.contest for found in scores))
    by = {(found.entrant, found.contest): found for found in scores}
    rows = []
    for rank, place in enumerate(places, start=1):
        mine = [by[place.entrant, contest] for contest in contests]
        rows.append(
            [
                str(rank) if place.points else "",
                place.entrant,
                *_place(place),
                *(_cell(found) for found in mine),
                str(max((found.parameters or 0 for found in mine), default=0)),
                str(sum(len(found.failed) for found in mine)),
            ]
        )
    return {
        "headers": [
            "",
            "encoding",
            "points",
            "95 %",
            "rank, 95 %",
            "learned",
            *contests,
            "parameters",
            "failed",
        ],
        "rows": rows,
        "caption": "Per cent right, rounded down, medians over seeds: in distribution | at 2, 4 and 10 times; "
        "parameters are the most of all contests.",
    }


def _place(place: Place) -> list[str]:
    """Points and rank with their intervals, and how much was learned; nothing of what takes no part."""
    if not place.contests:
        return [ABSENT] * 4
    return [
        f"{place.points:.2f}",
        f"{place.interval[0]:.2f} to {place.interval[1]:.2f}",
        f"{place.ranks[0]} to {place.ranks[1]}",
        f"{place.learned} of {place.contests}",
    ]


def _alike(document: dict[str, Any]) -> list[str]:
    """Encodings that take part behind a causal mask too, since they cannot tell left from right."""
    known = {place["entrant"] for place in document["ranking"]}
    return sorted(name for name in known - {NoPosition.name} if behind_mask(name) in known)


def _own(document: dict[str, Any]) -> list[str]:
    """What the mask is worth to encodings of plug-ins that cannot tell left from right."""
    points = {place["entrant"]: place["points"] for place in document["ranking"]}
    return [
        f"Your encoding {name!r} cannot tell left from right and has {points[name]:.2f} points; behind a causal mask: "
        f"{points[behind_mask(name)]:.2f}."
        for name in _alike(document)
        if name in document.get("own", ())
    ]


def _named(same: list[dict[str, Any]]) -> str:
    """Who is the same in which contests."""
    found = (f"{' = '.join(one['entrants'])} in {', '.join(one['contests'])}" for one in same)
    return "; ".join(found) or "none"


def _cell(found: Score) -> str:
    if found.absent:
        return ABSENT
    inside = show_share(_median(found.inside))
    if not found.learned:
        return f"{NOT_LEARNED} ({inside})"
    beyond = (REFUSED if value is None else show_share(value) for value in found.medians[1:])
    return f"{inside} | {' '.join(beyond)}"


def _median(values: list[float | None]) -> float:
    return float(np.median([value or 0.0 for value in values])) if values else 0.0


def heat_of(document: dict[str, Any], contest: str) -> Heat:
    """The map of a contest: in distribution, then every multiple."""
    order = [place["entrant"] for place in document["ranking"]][::-1]
    found = {s["entrant"]: s for s in document["scores"] if s["contest"] == contest}
    factors = document["factors"]
    seeds = document["settings"]["seeds"]
    values = np.full((seeds, len(order), 1 + len(factors)), np.nan)
    words: dict[tuple[int, int], str] = {}
    for row, entrant in enumerate(order):
        score = found[entrant]
        if score["absent"]:
            words |= {(row, column): ABSENT for column in range(1 + len(factors))}
            continue
        shown = np.array(
            [[inside, *along] for inside, along in zip(score["inside"], score["values"], strict=True)],
            dtype=np.float64,
        )
        values[:, row] = shown
        for column, factor in enumerate(factors, start=1):
            if factor in score["refused"]:
                words[row, column] = REFUSED
            elif not score["learned"]:
                words[row, column] = NOT_LEARNED if column == 2 else " "
    for row, column in words:
        values[:, row, column] = np.nan
    trained = document["trained"][contest]
    unit = "length" if document["axis"] == "length" else "values"
    return Heat(
        f"{contest}, trained to {trained}" if unit == "length" else contest,
        f"times the trained {unit}",
        "",
        order,
        ["in", *(f"{factor}x" for factor in factors)],
        values,
        percent=True,
        words=words,
    )


FIGURES = (ArenaLengths(), ArenaValues())
