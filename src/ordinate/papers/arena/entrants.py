"""Entrants of the arena: every encoding that a recipe can name, with the settings that a task asks for.

Most take part as they are. What an encoding must be told is told from the task: tables with room for the longest
sequence that is measured, distances that share a vector or a bucket beyond those of training, and lengths that papers
chose for theirs, in the same proportion. A plug-in's encoding takes part too.

A bias that is alike on both sides cannot tell left from right in an encoder that looks both ways. Such
biases are published for models that look back only, and take part behind a causal mask as well.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from ordinate.attention import Content, ContentClass, Form
from ordinate.encodings import (
    ENCODINGS,
    T5,
    Abacus,
    Coupling,
    Encoding,
    EncodingSettings,
    Fire,
    Learned,
    Pairwise,
    Randomized,
    RpeLog,
    Shaw,
    Significance,
    Sinusoidal,
    Site,
    Upe,
)
from ordinate.errors import OrdinateError
from ordinate.papers.arena.contests import FACTORS, Contest
from ordinate.relations import causal

WIDTH = 32
"""Columns of positions in a token, for encodings that append some."""


@dataclass(frozen=True)
class Absent:
    """An entrant that has no place in a contest, and why."""

    why: str


Chosen = Callable[[Contest], EncodingSettings | Absent]

CONTENT: Form = Content()


@dataclass(frozen=True)
class Entrant:
    """An encoding under a name, how it is set for a contest, and the form of attention that reads it."""

    name: str
    settings: Chosen
    form: Form = CONTENT
    declared: bool = False
    """Whether it is given a relation of the task."""
    causal: bool = False
    """Whether a mask that looks back only stands beside it."""


def furthest(contest: Contest) -> int:
    """Places of the longest sequence that is measured."""
    return 1 + max(contest.task.coordinates(FACTORS[-1] * contest.length).ordinate)


def distance(contest: Contest) -> int:
    """The largest distance of training."""
    return max(1, max(len(coordinates) for coordinates in contest.task.trained()) - 1)


def apart(contest: Contest) -> int:
    """The largest difference of ordinates that every field of several tokens shows in training."""
    coordinates = contest.task.coordinates(contest.length)
    last: dict[int, int] = {}
    for field, ordinate in zip(coordinates.field, coordinates.ordinate, strict=True):
        last[field] = max(ordinate, last.get(field, 0))
    return min(ordinate for ordinate in last.values() if ordinate)


def _fire(contest: Contest) -> EncodingSettings:
    # 512 of 2048 tokens at first (arXiv 2310.04418).
    return Fire(threshold=max(len(coordinates) for coordinates in contest.task.trained()) / 4)


def _randomized(contest: Contest) -> EncodingSettings:
    # 2048 positions for at most 500 tokens (arXiv 2305.16843).
    longest = len(contest.task.coordinates(FACTORS[-1] * contest.length))
    return Randomized(width=WIDTH, furthest=4 * longest)


def _buckets(contest: Contest) -> EncodingSettings:
    # A quarter of the buckets are single distances, and there must be distances beyond them.
    furthest = distance(contest)
    return T5(buckets=max(4, min(32, 4 * (furthest - 1))), furthest=max(2, furthest))


def _declared(contest: Contest) -> EncodingSettings | Absent:
    if contest.relation is None:
        return Absent(f"no relation: {contest.told}")
    return Pairwise(relation=contest.relation)


def _classes(contest: Contest) -> EncodingSettings | Absent:
    settings = _declared(contest)
    if isinstance(settings, EncodingSettings) and not built(settings, contest).state_dict():
        return Absent("its relation has no classes, which keys would be made of")
    return settings


def _uniform(contest: Contest) -> EncodingSettings | Absent:
    if "multiplier" not in contest.task.coordinates(contest.length).fields:
        return Absent("no field acts alike on all others")
    # The multiplier is the first token: the largest distance is to it, and has no vector of its own.
    return Upe(fields=("multiplier",), clip=distance(contest) - 1)


SET: dict[str, Chosen] = {
    "sinusoidal": lambda contest: Sinusoidal(width=WIDTH),
    "learned": lambda contest: Learned(width=WIDTH),
    "randomized": _randomized,
    "abacus": lambda contest: Abacus(width=WIDTH, furthest=furthest(contest), spread=furthest(contest)),
    "coupling": lambda contest: Coupling(width=WIDTH, furthest=furthest(contest)),
    "shaw": lambda contest: Shaw(clip=distance(contest)),
    "t5": _buckets,
    "fire": _fire,
    "upe": _uniform,
    "significance": lambda contest: Significance(width=WIDTH, reach=apart(contest)),
    "pairwise": _declared,
    "rpe-log": lambda contest: RpeLog(shift=1),
}
"""Encodings that are set for a contest; all others take part as they are."""

EVEN = ("alibi", "kerple-log", "kerple-power", "fire", "rpe-lin", "rpe-log", "dape")
"""Biases that are alike on both sides: b[i, j] = b[j, i]."""


def entrants() -> dict[str, Entrant]:
    """All encodings by name, some behind a causal mask too, and declared relations with keys of classes alone."""
    found = [
        Entrant(name, SET.get(name, lambda contest, kind=kind: kind()), declared=name == "pairwise")  # type: ignore[misc]
        for name, kind in ENCODINGS.items()
    ]
    found.append(Entrant("none, causal", lambda contest: Pairwise(relation=causal())))
    known = {entrant.name: entrant for entrant in found}
    found += [replace(known[name], name=f"{name}, causal", causal=True) for name in EVEN]
    found.append(Entrant("pairwise, content x class", _classes, ContentClass(), declared=True))
    return {entrant.name: entrant for entrant in found}


def built(settings: EncodingSettings, contest: Contest) -> Encoding:
    """The encoding of a small model; the global generator stays as it was."""
    with torch.random.fork_rng(devices=[]):
        return settings.build(Site(contest.task.trained(), layers=1, heads=2, dim=4))


def reached(settings: EncodingSettings, contest: Contest) -> tuple[int, ...]:
    """The multiples of the trained length that an encoding can be asked for; one that refuses says so itself.

    >>> from ordinate.papers.arena.contests import Lengths, contests
    >>> copies = contests(Lengths(5, 8, 10, 10, 16, 2))["copy"]
    >>> reached(Sinusoidal(), copies), reached(Learned(), copies)
    ((1, 2, 4, 10), (1,))
    """
    encoding = built(settings, contest).eval()
    found = []
    for factor in FACTORS:
        coordinates = contest.task.coordinates(factor * contest.length)
        try:
            with torch.no_grad():
                encoding.embed(torch.zeros(1, len(coordinates), 1), coordinates)
                encoding.pairs(coordinates, 0)
                encoding.bias(coordinates, 0)
        except OrdinateError:
            continue
        found.append(factor)
    return tuple(found)
