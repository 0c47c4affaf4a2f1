"""Discovery: which places an answer depends on, found from short samples of the task's own answers.

Every free input token is drawn again, and it is counted how often each answer changes. A dependence rarer than a
threshold is cut. What is left is read as structure, one field of keys at a time: a window of ordinate differences,
the same differences around a ring, keys that act alike on every answer, all places back, or all places. Each is
looked at in two lengths, since a window that grows with the length is none.

Weights sum to one, so at the edge of a number, where a window finds fewer keys, a head can only shift its weight to
those that are left: in 4 x 44 the two lowest places both see fours alone, and could not be told apart. A token that
never changes, such as a sign, gives heads something to look at instead, and is offered to all windows.
"""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import torch

from ordinate.errors import OrdinateError
from ordinate.lab.structure.check import influence
from ordinate.lab.tasks.base import Task
from ordinate.lab.toml import inline
from ordinate.relations import (
    BoundRelation,
    Relation,
    aligned,
    between,
    causal,
    everywhere,
    itself,
    relative,
    uniform,
    window,
)

THRESHOLD = 1e-3
"""Dependences rarer than one sample in a thousand are cut: several layers reach what one window leaves out."""

SHARE = 0.75
"""Of the pairs at a difference that must depend, for the difference to explain them."""


@dataclass(frozen=True)
class Evidence:
    """What was found about the keys of one field."""

    field: str
    structure: str
    """In a word: window, ring, alike, back, all, still, none."""
    rates: dict[int, float]
    """Highest rate at every difference of ordinates, answer minus key."""
    kept: tuple[int, ...]
    """Differences at or above the threshold."""

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        rates = {str(difference): rate for difference, rate in sorted(self.rates.items())}
        return {"field": self.field, "structure": self.structure, "rates": rates, "kept": list(self.kept)}


@dataclass(frozen=True)
class Discovery:
    """The dependences of a task, and the relation that they suggest."""

    task: Task
    lengths: tuple[int, int]
    count: int
    threshold: float
    evidence: tuple[Evidence, ...]
    relation: Relation

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return {
            "task": self.task.name,
            "lengths": list(self.lengths),
            "count": self.count,
            "threshold": self.threshold,
            "evidence": [evidence.to_dict() for evidence in self.evidence],
            "relation": {"text": str(self.relation), "recipe": self.relation.model_dump(mode="json")},
            "toml": self.toml,
        }

    @property
    def toml(self) -> str:
        """The line of a recipe, under [model], that gives attention this relation."""
        relation = self.relation.model_dump(mode="json", exclude_defaults=True)
        return f"encoding = {inline({'kind': 'pairwise', 'relation': relation})}"


@dataclass(frozen=True)
class _Dependence:
    """Rates of one field's keys at one length: (ordinate of the answer, ordinate of the key) -> rate."""

    rates: dict[tuple[int, int], float]
    keys: int
    length: int
    tokens: int

    def by_difference(self, modulus: int | None = None) -> dict[int, list[float]]:
        """All rates at every difference; around a ring, differences from -half to half."""
        found = defaultdict(list)
        for (answer, key), rate in self.rates.items():
            difference = answer - key
            if modulus:
                difference = (difference + modulus // 2) % modulus - modulus // 2
            found[difference].append(rate)
        return dict(found)


def discover(
    task: Task,
    *,
    count: int = 20_000,
    threshold: float = THRESHOLD,
    seed: int = 0,
    report: Callable[..., None] | None = None,
) -> Discovery:
    """Find the places that answers depend on, from samples no longer than those of training.

    `report` is called with facts (step, steps, seconds) as the work proceeds.

    >>> from ordinate.lab.tasks import make_task
    >>> discover(make_task("no-carry"), count=2000).relation
    aligned('first', 'second') * window(back=0)
    """
    if count < 1 / threshold:
        raise OrdinateError(
            f"{count} samples cannot show a rate of {threshold:g}: write --count {int(10 / threshold)} or more"
        )
    longest = max(task.lengths())
    lengths = (max(1, longest - 1), longest)
    if "length" not in task.axes or lengths[0] == longest:
        lengths = (longest, longest)
    found_at: dict[int, dict[str, _Dependence]] = {}
    begun = time.monotonic()
    for length in dict.fromkeys(lengths):

        def tell(step: int, steps: int, parts: int = len(set(lengths)), before: int = len(found_at)) -> None:
            if report is not None:
                seconds = time.monotonic() - begun
                report(step=before * steps + step, steps=parts * steps, seconds=seconds)

        found_at[length] = _dependences(task, length, count, seed, tell)
    short, long = (found_at[length] for length in lengths)
    evidence, parts = [], {}
    for field, found in long.items():
        structure, kept = _read(short[field], found, threshold)
        ring = found.tokens if structure == "ring" else None
        rates = {difference: max(values) for difference, values in found.by_difference(ring).items()}
        evidence.append(Evidence(field, structure, rates, kept))
        parts[field] = (structure, kept)
    if any(structure == "window" for structure, _ in parts.values()):
        for field in _still(task, longest, seed)[:1]:
            evidence.append(Evidence(field, "still", {}, ()))
            parts[field] = ("still", ())
    relation = _covering(_compose(parts, _answer_fields(task, longest)), task, longest)
    return Discovery(task, lengths, count, threshold, tuple(evidence), relation)


def _dependences(
    task: Task, length: int, count: int, seed: int, report: Callable[[int, int], None]
) -> dict[str, _Dependence]:
    """The rates of every field of keys at one length."""
    task = task.tested()
    coordinates, rates = influence(task, length=length, count=count, seed=seed, report=report)
    answers = task.scored(coordinates).any(-1).nonzero().flatten().tolist()
    fields: dict[str, dict[tuple[int, int], float]] = defaultdict(dict)
    keys: dict[str, int] = defaultdict(int)
    for token in task.free(coordinates, length):
        field = coordinates.fields[coordinates.field[token]]
        keys[field] += 1
        for answer in answers:
            pair = (coordinates.ordinate[answer], coordinates.ordinate[token])
            fields[field][pair] = max(fields[field].get(pair, 0.0), float(rates[answer, token]))
    return {f: _Dependence(found, keys[f], length, len(coordinates)) for f, found in fields.items()}


def _read(short: _Dependence, long: _Dependence, threshold: float) -> tuple[str, tuple[int, ...]]:
    """The structure of a field's keys, and the differences at or above the threshold."""
    kept = _differences(long, threshold)
    if not kept:
        return "none", ()
    inner = [rate for (answer, _), rate in long.rates.items() if 0 < answer < long.length]
    share = sum(rate >= threshold for rate in inner) / max(1, len(inner))
    grows = short.keys < long.keys
    if not grows and short.length < long.length and share >= SHARE:
        return "alike", kept
    if share == 1:
        return "all", kept
    around = _differences(long, threshold, ring=True)
    if len(around) < len(kept) and around == _differences(short, threshold, ring=True):
        return "ring", around
    if len(kept) > len(_differences(short, threshold)):
        return ("back" if min(kept) >= 0 else "all"), kept
    return ("window" if _explained(long, kept, threshold) else "all"), kept


def _differences(found: _Dependence, threshold: float, ring: bool = False) -> tuple[int, ...]:
    by_difference = found.by_difference(found.tokens if ring else None)
    return tuple(sorted(d for d, rates in by_difference.items() if max(rates) >= threshold))


def _explained(found: _Dependence, kept: tuple[int, ...], threshold: float) -> bool:
    """Whether nearly all inner pairs at the kept differences depend: places then act alike under shift."""
    for difference in kept:
        inner = [r for (a, k), r in found.rates.items() if a - k == difference and a < found.length]
        if inner and sum(rate >= threshold / 3 for rate in inner) < SHARE * len(inner):
            return False
    return True


def _answer_fields(task: Task, length: int) -> tuple[str, ...]:
    """The fields in which answers are read."""
    coordinates = task.coordinates(length)
    answers = task.scored(coordinates).any(-1).nonzero().flatten().tolist()
    return tuple(dict.fromkeys(coordinates.fields[coordinates.field[token]] for token in answers))


def _still(task: Task, length: int, seed: int) -> list[str]:
    """The fields of their own that hold the same symbols in every sample, and no answer."""
    batch = task.sample(64, generator=torch.Generator().manual_seed(seed), length=length)
    same = (batch.input == batch.input[:1]).all(0)
    if same.ndim > 1:
        same = same.all(-1)
    changes = {batch.coordinates.field[token] for token in (~same).nonzero().flatten().tolist()}
    fields = enumerate(batch.coordinates.fields)
    return [name for i, name in fields if i not in changes and name not in _answer_fields(task, length)]


def _compose(parts: dict[str, tuple[str, tuple[int, ...]]], answers: tuple[str, ...]) -> Relation:
    """One relation for all fields; fields with the same window are aligned with each other, and with the answers."""
    relations: list[Relation] = []
    alike = [field for field, (structure, _) in parts.items() if structure in ("alike", "still")]
    if alike:
        relations.append(uniform(*alike))
    windows: dict[tuple[int, int], list[str]] = defaultdict(list)
    for field, (structure, kept) in parts.items():
        if structure == "window":
            windows[max(0, *kept), max(0, *(-d for d in kept))].append(field)
        elif structure == "ring":
            near = window(max(0, *kept), max(0, *(-d for d in kept)), by="index", cyclic=True)
            relations.append(relative(cyclic=True) * near)
        elif structure == "back":
            queries = tuple(dict.fromkeys((field, *answers)))
            relations.append(between(queries, field) * causal(by="ordinate"))
        elif structure == "all":
            relations.append(everywhere() if len(parts) == 1 else between(None, field))
    for (back, ahead), fields in windows.items():
        if set(answers) <= set(fields):
            relations.append(aligned(*fields) * window(back, ahead))
        else:
            related = dict.fromkeys((*fields, *answers))
            relations.append(aligned(*related) * between(None, tuple(fields)) * window(back, ahead))
    return reduce(or_, relations) if relations else itself()


def _covering(relation: Relation, task: Task, length: int) -> Relation:
    """Let tokens that the relation gives no key attend to themselves."""
    coordinates = task.coordinates(length)
    try:
        BoundRelation(relation, [coordinates]).pattern(coordinates)
    except OrdinateError:
        return relation | itself()
    return relation


def strongest(evidence: Evidence, most: int = 8) -> list[tuple[int, float]]:
    """The differences with the highest rates, nearest first.

    >>> strongest(Evidence("first", "window", {0: 0.9, 1: 0.2, 2: 0.02}, (0, 1)), most=2)
    [(0, 0.9), (1, 0.2)]
    """
    best = sorted(evidence.rates.items(), key=lambda pair: -pair[1])[:most]
    return sorted(best, key=lambda pair: (abs(pair[0]), pair[0]))
