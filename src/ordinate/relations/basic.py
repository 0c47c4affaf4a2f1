"""The relations that others are built from."""

from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Int
from pydantic import Field
from torch import Tensor

from ordinate.relations.places import Places, field_name
from ordinate.relations.relation import Outcome, Relation, register

By = Literal["ordinate", "index"]
Fields = tuple[str, ...] | None


def _pairs_inside(query: Places, key: Places, fields: Fields) -> Bool[Tensor, "query key"]:
    """Pairs of tokens that are both in the fields; all pairs where there are none."""
    shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
    if fields is None:
        return torch.ones(shape, dtype=torch.bool)
    return (query.inside(*fields) & key.inside(*fields)).expand(shape)


def _difference(query: Places, key: Places, by: By, cyclic: bool) -> Int[Tensor, "query key"]:
    """Query minus key; around a ring, the short way."""
    difference = query.along(by) - key.along(by)
    if cyclic:
        half = query.tokens // 2
        difference = (difference + half) % query.tokens - half
    return difference


def _distance(difference: int) -> str:
    if difference == 0:
        return "same place"
    return f"{abs(difference)} {'back' if difference > 0 else 'ahead'}"


def _written(name: str, *parts: str) -> str:
    return f"{name}({', '.join(part for part in parts if part)})"


def _fields(fields: Fields) -> str:
    return "" if fields is None else ", ".join(fields)


@register
class Relative(Relation):
    """class(i, j) = i - j, wherever the pair stands (Shaw et al. 2018, arXiv 1803.02155)."""

    name: ClassVar[str] = "relative"
    summary: ClassVar[str] = "class = distance in the sequence; clipped, or refused beyond the trained length"
    arity: ClassVar[int] = 1

    by: By = "index"
    clip: int | None = Field(
        None, ge=1, description="larger distances share a class; without, they are refused"
    )
    cyclic: bool = Field(False, description="distances around a ring of all tokens")

    def relate(self, query: Places, key: Places) -> Outcome:
        """The difference, clipped."""
        difference = _difference(query, key, self.by, self.cyclic)
        if self.clip is not None:
            difference = difference.clamp(-self.clip, self.clip)
        return Outcome.of(torch.ones_like(difference, dtype=torch.bool), difference)

    def describe(self, label: tuple[int, ...]) -> str:
        """The distance."""
        return _distance(label[0])

    def __str__(self) -> str:
        return _written(
            "relative",
            "" if self.by == "index" else f"by={self.by!r}",
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

    def named_fields(self) -> tuple[str, ...]:
        """Those given."""
        return self.fields or ()

    def relate(self, query: Places, key: Places) -> Outcome:
        """Pairs inside the fields."""
        attended = _pairs_inside(query, key, self.fields)
        return Outcome.of(attended, query.field, key.field, query.along(self.by) - key.along(self.by))

    def describe(self, label: tuple[int, ...]) -> str:
        """Fields and distance."""
        return f"{field_name(label[0])} to {field_name(label[1])}, {_distance(label[2])}"

    def __str__(self) -> str:
        return _written("aligned", _fields(self.fields), "" if self.by == "ordinate" else f"by={self.by!r}")


@register
class Uniform(Relation):
    """class(i, j) = coordinate of j, whatever i: a position that acts alike on all others (UPE, arXiv 2406.01895)."""

    name: ClassVar[str] = "uniform"
    summary: ClassVar[str] = "class = the key's own coordinate, whatever the query"
    arity: ClassVar[int] = 2

    fields: tuple[str, ...] = Field(min_length=1, description="fields of the keys")

    def named_fields(self) -> tuple[str, ...]:
        """Those given."""
        return self.fields

    def relate(self, query: Places, key: Places) -> Outcome:
        """All pairs whose key is in the fields."""
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        return Outcome.of(key.inside(*self.fields).expand(shape), key.field, key.ordinate)

    def describe(self, label: tuple[int, ...]) -> str:
        """The key."""
        return f"any to {field_name(label[0])} {label[1]}"

    def __str__(self) -> str:
        return _written("uniform", _fields(self.fields))


@register
class Absolute(Relation):
    """Every pair of coordinates is a class of its own."""

    name: ClassVar[str] = "absolute"
    summary: ClassVar[str] = "every pair its own class; refused beyond the trained length"
    arity: ClassVar[int] = 4

    def relate(self, query: Places, key: Places) -> Outcome:
        """Both coordinates."""
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        attended = torch.ones(shape, dtype=torch.bool)
        return Outcome.of(attended, query.field, query.ordinate, key.field, key.ordinate)

    def describe(self, label: tuple[int, ...]) -> str:
        """Both coordinates."""
        return f"{field_name(label[0])} {label[1]} to {field_name(label[2])} {label[3]}"

    def __str__(self) -> str:
        return "absolute()"
