"""Relations without classes, which as factors restrict others, and `where`: any function of the coordinates."""

import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from jaxtyping import Bool
from pydantic import Field, field_serializer, field_validator
from torch import Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.relations.basic import FURTHEST, along, difference, pairs_inside, quoted, written
from ordinate.relations.places import By, Fields, Places, Span, field_name
from ordinate.relations.relation import Outcome, Relation, register


class PlainRelation(Relation):
    """Attended or absent, never a class."""

    @abstractmethod
    def attends(self, query: Places, key: Places) -> Bool[Tensor, "*pair"]:
        """Which pairs attend."""

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        return Outcome.plain(self.attends(query, key).expand(shape))

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        return "plain"


@register
class Window(PlainRelation):
    """-ahead <= ordinate of i - ordinate of j <= back."""

    name: ClassVar[str] = "window"
    summary: ClassVar[str] = "keys at most `back` places before and `ahead` places after the query"

    back: int = Field(ge=0, le=FURTHEST)
    ahead: int = Field(0, ge=0, le=FURTHEST)
    fields: Fields = None
    by: By = "ordinate"
    cyclic: bool = Field(False, description="distances around a ring of all tokens")

    @override
    def attends(self, query: Places, key: Places) -> Bool[Tensor, "*pair"]:
        found = difference(query, key, self.by, self.cyclic)
        near = (found <= self.back) & (found >= -self.ahead)
        return near & pairs_inside(query, key, self.fields)

    @override
    def candidates(self, places: Places) -> list[Span]:
        there = places.along(self.by)
        if not self.cyclic or not places.tokens:
            return [places.span_along(there, there - self.back, there + self.ahead, self.fields)]
        ring, half = places.tokens, places.tokens // 2
        back, ahead = min(self.back, ring - half - 1), min(self.ahead, half)
        there = there % ring
        low = (there - back) % ring
        return [  # from low to the end of the ring, and what is left from its beginning
            places.span_along(there, low - shift, low - shift + back + ahead, self.fields)
            for shift in (0, ring)
        ]

    @override
    def limits(self) -> Mapping[By, int]:
        return {self.by: max(self.back, self.ahead)}

    def __str__(self) -> str:
        distances = (f"{self.back}", f"{self.ahead}", quoted(self.fields))  # fields come after both distances
        return written(
            "window",
            *(
                distances
                if self.fields
                else (f"back={self.back}", f"ahead={self.ahead}" if self.ahead else "")
            ),
            along(self.by, "ordinate"),
            "cyclic=True" if self.cyclic else "",
        )


@register
class Causal(PlainRelation):
    """Keys at or before the query."""

    name: ClassVar[str] = "causal"
    summary: ClassVar[str] = "keys at or before the query"

    by: By = "index"

    @override
    def attends(self, query: Places, key: Places) -> Bool[Tensor, "*pair"]:
        return query.along(self.by) >= key.along(self.by)

    @override
    def candidates(self, places: Places) -> list[Span]:
        there = places.along(self.by)
        lowest = torch.full_like(there, torch.iinfo(there.dtype).min)
        return [places.span_along(there, lowest, there)]

    @override
    def limits(self) -> Mapping[By, int]:
        return {self.by: 0}

    def __str__(self) -> str:
        return written("causal", along(self.by, "index"))


@register
class Between(PlainRelation):
    """Queries of some fields and keys of some fields."""

    name: ClassVar[str] = "between"
    summary: ClassVar[str] = "queries of some fields, keys of some fields"

    query: Fields = None
    key: Fields = None

    @override
    def named_fields(self) -> tuple[str, ...]:
        return (self.query or ()) + (self.key or ())

    @override
    def attends(self, query: Places, key: Places) -> Bool[Tensor, "*pair"]:
        attended = pairs_inside(query, key, None)
        if self.query is not None:
            attended = attended & query.inside(*self.query)
        if self.key is not None:
            attended = attended & key.inside(*self.key)
        return attended

    @override
    def candidates(self, places: Places) -> list[Span]:
        return [places.span(self.query, self.key)]

    @override
    def limits(self) -> Mapping[By, int]:
        return {}

    def __str__(self) -> str:
        return written("between", *(_any_of(fields) for fields in (self.query, self.key)))


def _any_of(fields: Fields) -> str:
    if fields is None:
        return "None"
    return quoted(fields) if len(fields) == 1 else f"({quoted(fields)})"


@register
class Everywhere(PlainRelation):
    """All pairs."""

    name: ClassVar[str] = "everywhere"
    summary: ClassVar[str] = "all pairs attend"

    @override
    def attends(self, query: Places, key: Places) -> Bool[Tensor, "*pair"]:
        return pairs_inside(query, key, None)

    @override
    def limits(self) -> Mapping[By, int]:
        return {}

    def __str__(self) -> str:
        return "everywhere()"


@register
class Itself(PlainRelation):
    """Every token attends to itself: a last resort for tokens that have no other key."""

    name: ClassVar[str] = "itself"
    summary: ClassVar[str] = "every token attends to itself"

    @override
    def attends(self, query: Places, key: Places) -> Bool[Tensor, "*pair"]:
        return query.index == key.index

    @override
    def candidates(self, places: Places) -> list[Span]:
        return [Span(places.index, places.index, places.index + 1)]

    @override
    def limits(self) -> Mapping[By, int]:
        return {"index": 0}

    def __str__(self) -> str:
        return "itself()"


Predicate = Callable[[Places, Places], Tensor]


@register
class Where(Relation):
    """Any function of the coordinates: true and false make a plain relation, whole numbers are classes, below 0 absent.

    The function gets `Places` for queries and keys that broadcast against each other:
    `where(lambda q, k: q.ordinate - k.ordinate == 1)`. It is asked about every pair of tokens, so the time of a pattern
    is quadratic in them, unless a factor says where keys can be: `window(back=9) * where(...)` asks about ten keys a
    query. In a recipe the function is written as `module:function`; a file can only name a function of a module that is
    imported already.
    """

    name: ClassVar[str] = "where"
    summary: ClassVar[str] = "any function of the coordinates"
    arity: ClassVar[int] = 1

    function: Predicate

    @field_validator("function", mode="before")
    @classmethod
    def _find(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        module, _, name = value.partition(":")
        found = getattr(sys.modules.get(module), name, None)
        if found is None:
            raise OrdinateError(
                f"relation.function = {value!r} is not there: import {module} before reading this recipe"
            )
        return found

    @field_serializer("function")
    def _write(self, function: Any) -> str:
        return f"{function.__module__}:{function.__qualname__}"

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        said = self._said(query, key)
        self._check_depends_on_coordinates(query, key, said)
        if said.dtype == torch.bool:
            return Outcome(said, torch.zeros_like(said), (torch.zeros_like(said, dtype=torch.long),))
        return Outcome.of(said >= 0, said.long())

    def _said(self, query: Places, key: Places) -> Tensor:
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        try:
            said = self.function(query, key)
        except Exception as error:  # whatever a user's function raises is about that function
            raise OrdinateError(
                f"{self} cannot be asked about pairs: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(said, Tensor) or not _broadcasts(said.shape, shape):
            raise OrdinateError(
                f"{self} must give a value for every pair: use q.ordinate, k.ordinate, q.inside(...)"
            )
        return said.expand(shape)

    def _check_depends_on_coordinates(self, query: Places, key: Places, said: Tensor) -> None:
        """Ask again about some of the pairs: the answer must not change with what else is asked."""
        some = said[tuple(slice(None, None, 2) for _ in said.shape)]
        unlike = (self._said(query.every_second(), key.every_second()) != some).nonzero()
        if len(unlike):
            place = tuple(2 * int(axis) for axis in unlike[0])
            names = [
                f"{field_name(int(of.field.expand(said.shape)[place]))} {int(of.ordinate.expand(said.shape)[place])}"
                for of in (query, key)
            ]
            raise OrdinateError(
                f"{self} depends on something that is not in the coordinates of {names[0]!r} and {names[1]!r} at "
                f"{query.tokens} tokens: use only field, ordinate and index of the two tokens"
            )

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        return f"class {label[0]}"

    def __str__(self) -> str:
        return f"where({getattr(self.function, '__qualname__', repr(self.function))})"


def _broadcasts(shape: torch.Size, wanted: torch.Size) -> bool:
    """Whether a tensor of the one shape expands to the other.

    >>> [_broadcasts(torch.Size(shape), torch.Size((2, 3))) for shape in ((), (3,), (2, 1), (2,), (1, 2, 3))]
    [True, True, True, False, False]
    """
    try:
        return bool(torch.broadcast_shapes(shape, wanted) == wanted)
    except RuntimeError:
        return False
