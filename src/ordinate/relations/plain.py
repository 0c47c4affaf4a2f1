"""Relations without classes: they say which pairs attend, and as factors restrict other relations."""

import sys
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from jaxtyping import Bool
from pydantic import Field, field_serializer, field_validator
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.relations.basic import By, Fields, _difference, _fields, _pairs_inside, _written
from ordinate.relations.places import Places
from ordinate.relations.relation import Outcome, Relation, register


class PlainRelation(Relation):
    """Attended or absent, never a class."""

    @abstractmethod
    def attends(self, query: Places, key: Places) -> Bool[Tensor, "query key"]:
        """Which pairs attend."""

    def relate(self, query: Places, key: Places) -> Outcome:
        """No labels."""
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        return Outcome.plain(self.attends(query, key).expand(shape))

    def describe(self, label: tuple[int, ...]) -> str:
        """Nothing to name."""
        return "plain"


@register
class Window(PlainRelation):
    """-ahead <= ordinate of i - ordinate of j <= back."""

    name: ClassVar[str] = "window"
    summary: ClassVar[str] = "keys at most so many places back or ahead"

    back: int = Field(ge=0)
    ahead: int = Field(0, ge=0)
    fields: Fields = None
    by: By = "ordinate"
    cyclic: bool = Field(False, description="distances around a ring of all tokens")

    def named_fields(self) -> tuple[str, ...]:
        """Those given."""
        return self.fields or ()

    def attends(self, query: Places, key: Places) -> Bool[Tensor, "query key"]:
        """By the difference."""
        difference = _difference(query, key, self.by, self.cyclic)
        near = (difference <= self.back) & (difference >= -self.ahead)
        return near & _pairs_inside(query, key, self.fields)

    def __str__(self) -> str:
        return _written(
            "window",
            f"back={self.back}",
            f"ahead={self.ahead}" if self.ahead else "",
            f"fields={self.fields}" if self.fields else "",
            "" if self.by == "ordinate" else f"by={self.by!r}",
            "cyclic=True" if self.cyclic else "",
        )


@register
class Causal(PlainRelation):
    """Keys at or before the query."""

    name: ClassVar[str] = "causal"
    summary: ClassVar[str] = "keys at or before the query"

    by: By = "index"

    def attends(self, query: Places, key: Places) -> Bool[Tensor, "query key"]:
        """By the difference."""
        return query.along(self.by) >= key.along(self.by)

    def __str__(self) -> str:
        return _written("causal", "" if self.by == "index" else f"by={self.by!r}")


@register
class Between(PlainRelation):
    """Queries of some fields and keys of some fields."""

    name: ClassVar[str] = "between"
    summary: ClassVar[str] = "queries of some fields, keys of some fields"

    query: Fields = None
    key: Fields = None

    def named_fields(self) -> tuple[str, ...]:
        """Those given."""
        return (self.query or ()) + (self.key or ())

    def attends(self, query: Places, key: Places) -> Bool[Tensor, "query key"]:
        """By the fields."""
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        attended = torch.ones(shape, dtype=torch.bool)
        if self.query is not None:
            attended = attended & query.inside(*self.query)
        if self.key is not None:
            attended = attended & key.inside(*self.key)
        return attended

    def __str__(self) -> str:
        return _written("between", *(_any_of(fields) for fields in (self.query, self.key)))


def _any_of(fields: Fields) -> str:
    written = _fields(fields)
    return f"({written})" if fields is not None and len(fields) != 1 else written or "any"


@register
class Everywhere(PlainRelation):
    """All pairs."""

    name: ClassVar[str] = "everywhere"
    summary: ClassVar[str] = "all pairs attend"

    def attends(self, query: Places, key: Places) -> Bool[Tensor, "query key"]:
        """True."""
        return _pairs_inside(query, key, None)

    def __str__(self) -> str:
        return "everywhere()"


@register
class Itself(PlainRelation):
    """Every token attends to itself: a last resort for tokens that have no other key."""

    name: ClassVar[str] = "itself"
    summary: ClassVar[str] = "every token attends to itself"

    def attends(self, query: Places, key: Places) -> Bool[Tensor, "query key"]:
        """Equal indices."""
        return query.index == key.index

    def __str__(self) -> str:
        return "itself()"


Predicate = Callable[[Places, Places], Tensor]


@register
class Where(Relation):
    """Any function of the coordinates: true and false make a plain relation, whole numbers are classes, below 0 absent.

    The function gets `Places` for queries and keys that broadcast against each other:
    `where(lambda q, k: q.ordinate - k.ordinate == 1)`. In a recipe it is written as `module:function`; a file can only
    name a function of a module that is imported already.
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

    def relate(self, query: Places, key: Places) -> Outcome:
        """Call the function."""
        said = self._said(query, key)
        if said.dtype == torch.bool:
            return Outcome(said, torch.zeros_like(said), torch.zeros(*said.shape, 1, dtype=torch.long))
        return Outcome.of(said >= 0, said.long())

    def _said(self, query: Places, key: Places) -> Tensor:
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        try:
            said = self.function(query, key)
        except Exception as error:  # whatever a user's function raises is about that function
            raise OrdinateError(
                f"{self} cannot be asked about pairs: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(said, Tensor) or torch.broadcast_shapes(said.shape, shape) != shape:
            raise OrdinateError(
                f"{self} must give a value for every pair: use q.ordinate, k.ordinate, q.inside(...)"
            )
        return said.expand(shape)

    def describe(self, label: tuple[int, ...]) -> str:
        """The number."""
        return f"class {label[0]}"

    def __str__(self) -> str:
        return f"where({getattr(self.function, '__qualname__', repr(self.function))})"
