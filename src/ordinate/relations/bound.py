"""Bound relations: the classes numbered once, and the pattern of every sequence after that."""

from collections.abc import Iterable
from copy import copy
from functools import lru_cache

import torch

from ordinate.coordinates import Coordinates, ordinary_tensors
from ordinate.errors import OrdinateError, nearest
from ordinate.relations.asked import Asked, Label, all_labels, ask
from ordinate.relations.pattern import Pattern
from ordinate.relations.relation import Relation

KEPT_PAIRS = 2**22
"""Pairs of all patterns that a bound relation remembers; the newest pattern is kept, however large."""

ONLY_FIELD = "token"
"""The field of a relation that names none, where no layout says what fields there are."""

SIGNS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class BoundRelation:
    """A relation and its classes, numbered 0, 1, ... in the order of their labels.

    The classes are those of the layouts it was bound to, normally those of training. At other lengths a relation
    either has the same classes, or it is refused there: nothing is known of a class that was never trained.

    A relation whose classes do not grow with the sequence can be bound without layouts (`trained=None`), to all classes
    that it can have between the fields that it names. If it names none, it is bound to layouts of one field, whatever
    its name: `aligned() * window(back=2)` has 3 classes.
    """

    def __init__(
        self, relation: Relation, trained: Coordinates | Iterable[Coordinates] | None = None
    ) -> None:
        self.relation = relation
        self.trained: tuple[Coordinates, ...] = ()
        self._patterns: dict[Coordinates, Pattern] = {}
        self._loops: dict[int, BoundRelation] = {}
        self._newest: tuple[Coordinates, Asked] | None = None
        self._any_field = trained is None and not relation.named_fields()
        if trained is None:
            labels = _all_labels(relation)
        else:
            self.trained = tuple(dict.fromkeys([trained] if isinstance(trained, Coordinates) else trained))
            _check_fields(relation, self.trained)
            labels = {label for coordinates in self.trained for label in self._ask(coordinates).labels}
        self.labels = sorted(label for label in labels if label is not None)
        self._ids = {label: number for number, label in enumerate(self.labels)}

    def at_loop(self, loop: int) -> "BoundRelation":
        """The relation in a loop, with the same classes under the same numbers."""
        if self.relation.at_loop(loop) == self.relation:
            return self
        if loop not in self._loops:
            bound = copy(self)
            bound.relation = self.relation.at_loop(loop)
            bound._patterns, bound._loops, bound._newest = {}, {}, None
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
        return [self.relation.describe(label) for label in self._strange(self._ask(coordinates).labels)]

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

    @ordinary_tensors()
    def _work_out(self, coordinates: Coordinates) -> Pattern:
        asked = self._ask(coordinates)
        self._newest = None
        strange = self._strange(asked.labels)
        if strange:
            raise OrdinateError(self._refusal(strange[0], coordinates))
        self._check_every_query_has_a_key(asked, coordinates)
        ids = [self.classes if label is None else self._ids[label] for label in asked.labels]
        label = torch.tensor(ids, dtype=torch.long)[asked.which]
        return Pattern(len(coordinates), self.classes, asked.query, asked.key, label, _bounds(coordinates))

    @ordinary_tensors()
    def _ask(self, coordinates: Coordinates) -> Asked:
        """Ask about all pairs; the newest answer is kept until its pattern is made."""
        newest = self._newest
        if newest is None or newest[0] != coordinates:
            asked = coordinates
            if self._any_field and len(coordinates.field_tensor.unique()) == 1:
                asked = Coordinates.of(**{ONLY_FIELD: coordinates.ordinate_tensor})
            newest = self._newest = (coordinates, ask(self.relation, asked))
        return newest[1]

    def _strange(self, labels: Iterable[Label]) -> list[tuple[int, ...]]:
        return sorted(label for label in labels if label is not None and label not in self._ids)

    def _refusal(self, label: tuple[int, ...], coordinates: Coordinates) -> str:
        found = f"{self.relation} has no class {self.relation.describe(label)!r} at {len(coordinates)} tokens"
        if not self.trained:
            return f"{found}: it was bound without layouts; write trained=, with the layouts of training"
        longest = max(len(c) for c in self.trained)
        return (
            f"{found}: training had {self.classes} classes at up to {longest} tokens; "
            "write clip=, or multiply it with a window(...)"
        )

    def _check_every_query_has_a_key(self, asked: Asked, coordinates: Coordinates) -> None:
        without = torch.ones(len(coordinates), dtype=torch.bool)
        without[asked.query] = False
        if without.any():
            _check_fields(self.relation, (coordinates,))
            token = int(without.nonzero()[0, 0])
            raise OrdinateError(
                f"{self.relation} leaves {coordinates.label(token)!r} without any key at {len(coordinates)} tokens: "
                "add `| itself()` or relate its field"
            )


@lru_cache(maxsize=8)
def bound_to(relation: Relation, trained: Coordinates | tuple[Coordinates, ...]) -> BoundRelation:
    """The relation bound to these layouts, from the cache if it was asked for lately."""
    return BoundRelation(relation, trained)


def _all_labels(relation: Relation) -> set[Label]:
    fields = tuple(dict.fromkeys(relation.named_fields())) or (ONLY_FIELD,)
    labels = all_labels(relation, fields)
    if labels is None:
        raise OrdinateError(
            f"{relation} does not say by itself which classes it has: write trained=od.layout({fields[0]}=8), with the "
            "lengths of training, or multiply it with a window(...)"
        )
    return labels


def _bounds(coordinates: Coordinates) -> tuple[int, ...]:
    """Where a new field begins."""
    field = coordinates.field_tensor
    changes = (field[1:] != field[:-1]).nonzero().flatten() + 1
    return (0, *changes.tolist(), len(coordinates))


def _check_fields(relation: Relation, layouts: tuple[Coordinates, ...]) -> None:
    if not layouts:
        raise OrdinateError(
            f"{relation} is bound to no layout: write at least one, such as od.layout(number=8)"
        )
    known = list(dict.fromkeys(name for coordinates in layouts for name in coordinates.fields))
    for name in relation.named_fields():
        if name not in known:
            listed = ", ".join(map(repr, known)) or "the fields of an empty layout"
            raise OrdinateError(
                f"{relation}: there is no field {name!r} among {listed}: {nearest(name, known)}"
            )


def show(relation: Relation, layout: Coordinates | int, most: int = 24) -> str:
    """The relation, its classes with the number of their pairs, and the matrix: `.` is absent, `+` is plain.

    >>> from ordinate.relations import aligned, window
    >>> print(show(aligned() * window(back=1), Coordinates.of(digit=range(3))))
    aligned() * window(back=1): 2 classes, 5 of 9 pairs attended
      0  digit to digit, same place    3
      1  digit to digit, 1 back        2
    <BLANKLINE>
    digit 0   0 . .
    digit 1   1 0 .
    digit 2   . 1 0
    """
    coordinates = layout if isinstance(layout, Coordinates) else _one_field(relation, layout)
    bound = BoundRelation(relation, coordinates)
    pattern = bound.pattern(coordinates)
    counts = pattern.label.bincount(minlength=bound.classes + 1).tolist()
    tokens = len(coordinates)
    lines = [f"{relation}: {bound.classes} classes, {len(pattern.query)} of {tokens**2} pairs attended"]
    names = bound.names
    wide = max([len(name) for name in names[:most]] + [5])
    lines += [f"  {_sign(i)}  {name:{wide}}  {counts[i]:>3}" for i, name in enumerate(names[:most])]
    if len(names) > most:
        lines.append(f"  and {len(names) - most} more")
    if counts[-1]:
        lines.append(f"  +  {'plain':{wide}}  {counts[-1]:>3}")
    shown = range(min(tokens, 2 * most))
    labels = [coordinates.label(i) for i in shown]
    column = max((len(label) for label in labels), default=0)
    signs = [["."] * len(shown) for _ in shown]
    inside = ((pattern.query < len(shown)) & (pattern.key < len(shown))).nonzero().flatten()
    pairs = (part[inside].tolist() for part in (pattern.query, pattern.key, pattern.label))
    for query, key, c in zip(*pairs, strict=True):
        signs[query][key] = "+" if c == bound.classes else _sign(c)
    lines += ["", *(f"{label:{column}}   {' '.join(row)}" for label, row in zip(labels, signs, strict=True))]
    if tokens > len(shown):
        lines.append(f"and {tokens - len(shown)} more tokens")
    return "\n".join(lines)


def _one_field(relation: Relation, tokens: int) -> Coordinates:
    """A layout of one field, that of the relation if it names one."""
    names = tuple(dict.fromkeys(relation.named_fields())) or (ONLY_FIELD,)
    if len(names) > 1:
        fields = ", ".join(f"{name}={tokens}" for name in names)
        raise OrdinateError(f"{relation} names {len(names)} fields: write show(od.layout({fields}))")
    return Coordinates.of(**{names[0]: range(tokens)})


def _sign(number: int) -> str:
    return SIGNS[number] if number < len(SIGNS) else "#"
