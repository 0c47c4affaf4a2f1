"""The relations with classes that others are built from."""

from collections.abc import Mapping
from typing import ClassVar

import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Tensor
from typing_extensions import override

from ordinate.relations.places import By, Fields, Places, Span, field_name
from ordinate.relations.relation import Outcome, Relation, register

FURTHEST = 2**20
"""The largest distance that a relation may name."""


def pairs_inside(query: Places, key: Places, fields: Fields) -> Bool[Tensor, "*pair"]:
    """Pairs of tokens that are both in the fields; all pairs where there are none."""
    shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
    if fields is None:
        return torch.ones(shape, dtype=torch.bool)
    return (query.inside(*fields) & key.inside(*fields)).expand(shape)


def difference(query: Places, key: Places, by: By, cyclic: bool) -> Int[Tensor, "*pair"]:
    """Query minus key; around a ring, the short way."""
    found = query.along(by) - key.along(by)
    if cyclic:
        half = query.tokens // 2
        found = (found + half) % query.tokens - half
    return found


def written(name: str, *parts: str) -> str:
    """A call of a function; empty parts are left out."""
    return f"{name}({', '.join(part for part in parts if part)})"


def quoted(fields: Fields) -> str:
    """Fields as arguments of a call."""
    return ", ".join(repr(name) for name in fields or ())


def along(by: By, default: By) -> str:
    """The coordinate as an argument of a call, where it is not the default."""
    return "" if by == default else f"by={by!r}"


def _distance(places: int) -> str:
    if places == 0:
        return "same place"
    return f"{abs(places)} {'back' if places > 0 else 'ahead'}"


@register
class Relative(Relation):
    """class(i, j) = i - j, wherever the pair stands (Shaw et al. 2018, arXiv 1803.02155)."""

    name: ClassVar[str] = "relative"
    summary: ClassVar[str] = "class = distance in the sequence; clipped, or refused beyond the trained length"
    arity: ClassVar[int] = 1

    by: By = "index"
    clip: int | None = Field(
        None, ge=1, le=FURTHEST, description="larger distances share a class; by default they are refused"
    )
    cyclic: bool = Field(False, description="distances around a ring of all tokens")

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        found = difference(query, key, self.by, self.cyclic)
        if self.clip is not None:
            found = found.clamp(-self.clip, self.clip)
        return Outcome.of(torch.ones_like(found, dtype=torch.bool), found)

    @override
    def limits(self) -> Mapping[By, int]:
        return {self.by: self.clip or 0}

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        return _distance(label[0])

    def __str__(self) -> str:
        return written(
            "relative",
            along(self.by, "index"),
            "" if self.clip is None else f"clip={self.clip}",
            "cyclic=True" if self.cyclic else "",
        )


@register
class Aligned(Relation):
    """class(i, j) = (field of i, field of j, ordinate of i - ordinate of j): digits related by significance."""

    name: ClassVar[str] = "aligned"
    summary: ClassVar[str] = "class = both fields and the difference of ordinates"
    arity: ClassVar[int] = 3

    fields: Fields = None
    by: By = "ordinate"

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        attended = pairs_inside(query, key, self.fields)
        return Outcome.of(attended, query.field, key.field, difference(query, key, self.by, cyclic=False))

    @override
    def candidates(self, places: Places) -> list[Span]:
        return [places.span(self.fields, self.fields)]

    @override
    def limits(self) -> Mapping[By, int]:
        return {self.by: 0}

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        return f"{field_name(label[0])} to {field_name(label[1])}, {_distance(label[2])}"

    def __str__(self) -> str:
        return written("aligned", quoted(self.fields), along(self.by, "ordinate"))


@register
class Uniform(Relation):
    """class(i, j) = coordinate of j, whatever i: a position that acts alike on all others (UPE, arXiv 2406.01895)."""

    name: ClassVar[str] = "uniform"
    summary: ClassVar[str] = "class = the key's own coordinate, the same for every query"
    arity: ClassVar[int] = 2

    fields: tuple[str, ...] = Field(min_length=1, description="fields of the keys")

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        return Outcome.of(key.inside(*self.fields).expand(shape), key.field, key.ordinate)

    @override
    def candidates(self, places: Places) -> list[Span]:
        return [places.span(keys=self.fields)]

    @override
    def limits(self) -> Mapping[By, int]:
        return {"ordinate": 0}

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        return f"any to {field_name(label[0])} {label[1]}"

    def __str__(self) -> str:
        return written("uniform", quoted(self.fields))


@register
class Absolute(Relation):
    """Every pair of coordinates is a class of its own."""

    name: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "every pair its own class; refused beyond the trained length"
    arity: ClassVar[int] = 4

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        attended = torch.ones(shape, dtype=torch.bool)
        return Outcome.of(attended, query.field, query.ordinate, key.field, key.ordinate)

    @override
    def limits(self) -> Mapping[By, int]:
        return {"ordinate": 0}

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        return f"{field_name(label[0])} {label[1]} to {field_name(label[2])} {label[3]}"

    def __str__(self) -> str:
        return "absolute()"


@register
class Leap(Relation):
    """class(i, j) = (field of i, field of j, whether j is at the same ordinate or a leap back).

    In loop t a leap is back 2^t places, with the same classes and so the same vectors: what a model has learned to
    do over 1, 2 and 4 places it does over 8, 16 and 32. n loops reach 2^n - 1 places (parallel prefix).
    """

    name: ClassVar[str] = "leap"
    summary: ClassVar[str] = "class = both fields, and same place or a leap back that doubles with every loop"
    arity: ClassVar[int] = 3

    fields: Fields = None
    back: int = Field(1, ge=1, le=FURTHEST, description="places of a leap in the first loop")

    @override
    def at_loop(self, loop: int) -> "Leap":
        return self.model_copy(update={"back": self.back * 2**loop}) if loop else self

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        back = query.ordinate - key.ordinate
        attended = ((back == 0) | (back == self.back)) & pairs_inside(query, key, self.fields)
        return Outcome.of(attended, query.field, key.field, (back != 0).long())

    @override
    def candidates(self, places: Places) -> list[Span]:
        there = places.ordinate
        return [places.span_along(there, o, o, self.fields) for o in (there, there - self.back)]

    @override
    def limits(self) -> Mapping[By, int]:
        return {"ordinate": self.back}

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        how = "a leap back" if label[2] else "same place"
        return f"{field_name(label[0])} to {field_name(label[1])}, {how}"

    def __str__(self) -> str:
        return written("leap", quoted(self.fields), "" if self.back == 1 else f"back={self.back}")
