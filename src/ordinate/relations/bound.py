"""Bound relations: the classes met in training numbered once, and the pattern of every sequence after that."""

from collections.abc import Iterable, Sequence
from copy import copy
from itertools import pairwise

import torch
from jaxtyping import Int
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, nearest
from ordinate.relations.pattern import Pattern
from ordinate.relations.places import Places
from ordinate.relations.relation import Outcome, Relation

PAIRS_AT_ONCE = 2**22
"""Pairs that a relation is asked about in one call; a pattern never needs all pairs of a long sequence at once."""

KEPT_PAIRS = 2**22
"""Pairs of all patterns that a bound relation remembers; the newest pattern is kept, however large."""


class BoundRelation:
    """A relation and its classes, numbered 0, 1, ... in the order of their labels.

    The classes are those of the coordinates it was bound to, normally those of training. At other lengths a relation
    either has the same classes, or it is refused there: nothing is known of a class that was never trained.
    """

    def __init__(self, relation: Relation, trained: Iterable[Coordinates]) -> None:
        self.relation = relation
        self.trained = tuple(dict.fromkeys(trained))
        for coordinates in self.trained:
            _check_depends_on_coordinates(relation, coordinates)
        _check_fields(relation, self.trained)
        labels: set[tuple[int, ...]] = set()
        for coordinates in self.trained:
            *_, rows = _pairs(relation, coordinates)
            labels.update(map(tuple, _unique(rows)[0].tolist()))
        self.labels = sorted(label[1:] for label in labels if label[0])
        self._ids = {label: number for number, label in enumerate(self.labels)}
        self._patterns: dict[Coordinates, Pattern] = {}
        self._loops: dict[int, BoundRelation] = {}

    def at_loop(self, loop: int) -> "BoundRelation":
        """The relation in a loop, with the same classes under the same numbers."""
        if self.relation.at_loop(loop) == self.relation:
            return self
        if loop not in self._loops:
            bound = copy(self)
            bound.relation, bound._patterns, bound._loops = self.relation.at_loop(loop), {}, {}
            self._loops[loop] = bound
        return self._loops[loop]

    @property
    def classes(self) -> int:
        """How many classes there are; each has its own parameters."""
        return len(self.labels)

    def parameters(self, dim: int, heads: int = 1, layers: int = 1) -> int:
        """How many numbers a vector of this size for every class, head and layer has."""
        return self.classes * dim * heads * layers

    @property
    def names(self) -> list[str]:
        """A reader's name of every class."""
        return [self.relation.describe(label) for label in self.labels]

    def unknown(self, coordinates: Coordinates) -> list[str]:
        """Classes of these coordinates that were never trained."""
        *_, rows = _pairs(self.relation, coordinates)
        found = map(tuple, _unique(rows)[0].tolist())
        return [
            self.relation.describe(label[1:]) for label in found if label[0] and label[1:] not in self._ids
        ]

    def beyond(self, coordinates: Coordinates) -> str:
        """What happens at these coordinates, in one line."""
        missing = self.unknown(coordinates)
        if not missing:
            return f"{len(coordinates)} tokens: every class is known from training"
        return f"{len(coordinates)} tokens: refused, {len(missing)} classes were never trained, such as {missing[-1]!r}"

    def pattern(self, coordinates: Coordinates) -> Pattern:
        """Where the tokens at these coordinates look; computed once and kept."""
        if coordinates not in self._patterns:
            found = self._work_out(coordinates)
            kept = len(found.query) + sum(len(pattern.query) for pattern in self._patterns.values())
            while self._patterns and kept > KEPT_PAIRS:
                kept -= len(self._patterns.pop(next(iter(self._patterns))).query)
            self._patterns[coordinates] = found
        return self._patterns[coordinates]

    @torch.inference_mode(False)
    def _work_out(self, coordinates: Coordinates) -> Pattern:
        query, key, rows = _pairs(self.relation, coordinates)
        labels, which = _unique(rows)
        ids = []
        for classed, *label in labels.tolist():
            if classed and tuple(label) not in self._ids:
                longest = max(len(c) for c in self.trained)
                raise OrdinateError(
                    f"{self.relation} has no class {self.relation.describe(tuple(label))!r} at {len(coordinates)} "
                    f"tokens: training had {self.classes} classes at up to {longest} tokens; "
                    "write clip=, or multiply it with a window(...)"
                )
            ids.append(self._ids[tuple(label)] if classed else self.classes)
        without = torch.ones(len(coordinates), dtype=torch.bool)
        without[query] = False
        if without.any():
            token = int(without.nonzero()[0, 0])
            raise OrdinateError(
                f"{self.relation} leaves {coordinates.label(token)!r} without any key at {len(coordinates)} tokens: "
                "add `| itself()` or relate its field"
            )
        label = torch.tensor(ids, dtype=torch.long)[which]
        return Pattern(len(coordinates), self.classes, query, key, label, _bounds(coordinates))


def _pairs(
    relation: Relation, coordinates: Coordinates
) -> tuple[Int[Tensor, " pair"], Int[Tensor, " pair"], Int[Tensor, "pair label"]]:
    """All attended pairs with [has a class, label...], worked out for some queries at a time."""
    places = Places.of(coordinates)
    tokens = len(coordinates)
    step = max(1, PAIRS_AT_ONCE // max(1, tokens))
    found = []
    for first in range(0, tokens, step):
        said = relation.relate(places.part(slice(first, first + step)).column(), places.row())
        query, key = said.attended.nonzero().unbind(-1)
        classed = said.classed[query, key]
        label = said.label[query, key] * classed[:, None]
        found.append((query + first, key, torch.cat([classed.long()[:, None], label], dim=-1)))
    query, key, rows = (torch.cat(parts) for parts in zip(*found, strict=True))
    return query, key, rows


def _unique(rows: Int[Tensor, "pair label"]) -> tuple[Int[Tensor, "unique label"], Int[Tensor, " pair"]]:
    """Unique rows and the place of every row among them; by one number a row, since sorting rows is slow."""
    if not len(rows):
        return rows, rows.new_zeros(0)
    number = torch.zeros(len(rows), dtype=torch.long)
    for column in rows.unbind(-1):
        values, place = torch.unique(column, return_inverse=True)
        number = number * len(values) + place
        number = torch.unique(number, return_inverse=True)[1]
    count = int(number.max()) + 1
    first = torch.full((count,), len(rows), dtype=torch.long)
    first.scatter_reduce_(0, number, torch.arange(len(rows)), "amin")
    return rows[first], number


def _bounds(coordinates: Coordinates) -> tuple[int, ...]:
    """Where a new field begins."""
    changes = [i + 1 for i, (a, b) in enumerate(pairwise(coordinates.field)) if a != b]
    return (0, *changes, len(coordinates))


def _check_fields(relation: Relation, trained: Sequence[Coordinates]) -> None:
    known = {name for coordinates in trained for name in coordinates.fields}
    for name in relation.named_fields():
        if name not in known:
            longest = max(len(coordinates) for coordinates in trained)
            raise OrdinateError(
                f"{relation}: there is no field {name!r} at {longest} tokens: {nearest(name, known)}"
            )


def _check_depends_on_coordinates(relation: Relation, coordinates: Coordinates) -> None:
    """Ask again about half of the pairs: the answer must not change with what else is asked."""
    places = Places.of(coordinates)
    some = torch.arange(0, len(coordinates), 2)
    whole = relation.relate(places.column(), places.row())
    part = relation.relate(places.part(some).column(), places.part(some).row())
    for all_pairs, few in zip(_canonical(whole), _canonical(part), strict=True):
        unlike = all_pairs[some][:, some] != few
        if unlike.any():
            query, key = (coordinates.label(2 * int(place)) for place in unlike.nonzero()[0, :2])
            raise OrdinateError(
                f"{relation} depends on something that is not in the coordinates of {query!r} and {key!r} at "
                f"{len(coordinates)} tokens: use only field, ordinate and index of the two tokens"
            )


def _canonical(said: Outcome) -> tuple[Tensor, Tensor, Tensor]:
    classed = said.classed & said.attended
    return said.attended, classed, said.label * classed[..., None]
