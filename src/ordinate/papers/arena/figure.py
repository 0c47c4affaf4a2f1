"""Figures of the arena: a map for every contest, and a table of who is first."""

from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Drawing

from ordinate.encodings import ENCODINGS, NoPosition
from ordinate.lab.evaluation.statistics import coverage_ceiling
from ordinate.lab.report.heat import Heat, heat_maps
from ordinate.lab.report.numbers import show_share
from ordinate.lab.studies import Study
from ordinate.papers.arena.cells import SIZES, ArenaScale, Cell, cells
from ordinate.papers.arena.contests import FACTORS
from ordinate.papers.arena.entrants import behind_mask
from ordinate.papers.arena.scores import DRAWS, LEARNED, Rank, Score, ranked, same_models, score
from ordinate.papers.figure import Document, Figure, Runs

COLUMNS = 3
"""Maps side by side."""
REFUSED, ABSENT, NOT_LEARNED = "refused", "-", "not learned"


SCALES = {
    "smoke": "four encodings and yours on two tasks for three steps, proves the path in seconds; no verdict",
    "laptop": "all encodings, nine tasks, three seeds, 1200 steps: at most 8 hours on 2 cores",
    "paper": "all encodings, nine tasks, five seeds, 50000 steps of larger models on longer inputs, for GPUs",
}


def cells_along(axis: str, scale: str) -> list[Cell]:
    """The cells of the contests that have this axis."""
    return [cell for cell in cells(SIZES[scale]) if axis in cell.contest.task.axes]


def plan(axis: str, scale: str) -> Runs:
    """All encodings in all contests that have an axis, cell by cell: what is in the store is not trained again."""
    found = cells_along(axis, scale)
    recipes = tuple(cell.recipe for cell in found if cell.recipe is not None)
    return Runs(recipes, SIZES[scale].seeds, partial(measure, axis, found))


def measure(axis: str, all_cells: list[Cell], study: Study, scale: str) -> Document:
    """Scores of all cells, and the ranking."""
    scores = [score(cell, [] if cell.recipe is None else study.runs(cell.recipe), axis) for cell in all_cells]
    places = ranked(scores, SIZES[scale].count)
    return {
        "settings": _settings(SIZES[scale], len(study.recipes) * SIZES[scale].seeds),
        "axis": axis,
        "factors": list(FACTORS),
        "contests": {cell.contest.name: cell.contest.knowledge for cell in all_cells},
        "trained": {cell.contest.name: cell.contest.length for cell in all_cells},
        "declared": sorted({cell.entrant.name for cell in all_cells if cell.entrant.declared}),
        "own": sorted({c.entrant.name for c in all_cells if c.entrant.own and not c.entrant.causal}),
        "ranking": [
            asdict(place) | {"interval": list(place.interval), "ranks": list(place.ranks)} for place in places
        ],
        "scores": [asdict(found) for found in scores],
        "same_models": [
            {"entrants": list(names), "contests": where} for names, where in same_models(scores).items()
        ],
        "claims": [],
        "table": table_of(scores, places),
    }


def _settings(chosen: ArenaScale, trainings: int) -> dict[str, Any]:
    return {
        "model": f"encoder, {chosen.layers} layers, {chosen.heads} heads, width {chosen.width}, "
        f"hidden {chosen.hidden}",
        "trainings": trainings,
        "seeds": chosen.seeds,
        "steps": chosen.steps,
        "batch": chosen.batch,
        "optimizer": f"{chosen.training.steps_by}; averaged weights",
        "test samples at each point": chosen.count,
    }


def draw(document: Document) -> Drawing:
    """A map a contest: encodings by rank from above, multiples from left to right."""
    return heat_maps([heat_of(document, name) for name in document["contests"]], columns=COLUMNS)


def notes(document: Document) -> list[str]:
    """The rules, what each contest gives away, and who takes no part."""
    absent = {f"{s['entrant']} in {s['contest']}: {s['absent']}" for s in document["scores"] if s["absent"]}
    hops, seeds = SIZES[document["scale"]].lengths.hops, document["settings"]["seeds"]
    given = [f"{name}: {why}" for name, why in document["contests"].items()]
    return [
        "Model, optimiser, steps and batches are the same in all cells; parameters differ by those of the "
        "encoding.",
        f"Learned: at least {LEARNED:.0%} of sequences right in distribution, in the median over seeds. Answers "
        "that are numbers are right within 0.1 + 10 %.",
        "Points: mean accuracy at 2, 4 and 10 times, summed over contests, mean over seeds; 0 where a task was not "
        "learned, where a length is refused, for a seed that failed, and where an encoding takes no part.",
        f"Intervals of points and ranks: {DRAWS} draws of other seeds and other tests, in each of which what "
        f"was learned is decided again. Seeds are few: the range of {seeds} holds the median of "
        f"all with a probability of {coverage_ceiling(seeds):.0%}, so neighbours whose "
        "ranks overlap are not told apart, and others only so far.",
        "The encoder looks both ways. 'none, causal' is no position behind a causal mask, as NoPE is published. "
        "Biases that are alike on both sides cannot tell left from right in such an encoder; they are published "
        "for models that look back only, and take part behind a causal mask too: "
        f"{', '.join(_alike(document)) or 'none of these'}. A causal model cannot sort in place.",
        f"Given a relation of the task: {', '.join(document['declared'])}. {'; '.join(given)}.",
        f"In k-hop one sample of {1 + hops} has no hop and only repeats its letters, "
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


def table_of(scores: list[Score], places: list[Rank]) -> dict[str, Any]:
    """A row an encoding, best first: points, and for every contest the cells of its map."""
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


def _place(place: Rank) -> list[str]:
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


def arena_figure(name: str, title: str, summary: str, axis: str, along: str) -> Figure:
    """The contests that have an axis; `along` is what it is the range of, in the words of a caption."""
    return Figure(
        f"arena/{name}",
        title,
        summary,
        SCALES,
        draw=draw,
        caption="Per cent right, rounded down, all answers of a sequence, medians over {settings[seeds]} seeds, at 1, "
        f"2, 4 and 10 times the {along} of training; encodings by points. Where a task was not learned the column in "
        f"distribution is shown alone. '{REFUSED}': the encoding has no position there; '{ABSENT}': it has no place in "
        "the contest.",
        plan=partial(plan, axis),
        notes=notes,
    )


FIGURES = (
    arena_figure(
        "lengths",
        "The arena: all encodings beyond the trained length",
        "Every encoding of the library in one model with one budget, on addition, one-digit multiplication, sorting, "
        "cumulative sums, copying, reversing, parity, counting modulo 5 and k-hop: accuracy at 1, 2, 4 and 10 times "
        "the trained length.",
        "length",
        "length",
    ),
    arena_figure(
        "values",
        "The arena: all encodings beyond the trained values",
        "The same trainings on the tasks whose inputs are numbers, sorting and cumulative sums: accuracy at 1, 2, 4 "
        "and 10 times the range of values of training.",
        "scale",
        "range of values",
    ),
)
