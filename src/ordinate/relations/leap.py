"""Leaps: a relation whose distance doubles every time a looped model goes through its layers."""

from typing import ClassVar

from pydantic import Field

from ordinate.relations.basic import Fields, _fields, _pairs_inside, _written
from ordinate.relations.places import Places, field_name
from ordinate.relations.relation import Outcome, Relation, register


@register
class Leap(Relation):
    """class(i, j) = (field of i, field of j, whether j is at the same ordinate or a leap back).

    In loop t a leap is back 2^t places, with the same classes and so the same vectors: what a model has learned to
    do over 1, 2 and 4 places it does over 8, 16 and 32. So many loops reach 2^loops - 1 places (parallel prefix).
    """

    name: ClassVar[str] = "leap"
    summary: ClassVar[str] = "class = both fields, and same place or a leap back that doubles with every loop"
    arity: ClassVar[int] = 3

    fields: Fields = None
    back: int = Field(1, ge=1, description="places of a leap in the first loop")

    def named_fields(self) -> tuple[str, ...]:
        """Those given."""
        return self.fields or ()

    def at_loop(self, loop: int) -> "Leap":
        """Twice as far with every loop."""
        return self.model_copy(update={"back": self.back * 2**loop}) if loop else self

    def relate(self, query: Places, key: Places) -> Outcome:
        """Two places for every query, as far as they are there."""
        difference = query.ordinate - key.ordinate
        there = (difference == 0) | (difference == self.back)
        attended = there & _pairs_inside(query, key, self.fields)
        return Outcome.of(attended, query.field, key.field, (difference != 0).long())

    def describe(self, label: tuple[int, ...]) -> str:
        """Fields, and how far."""
        how = "a leap back" if label[2] else "same place"
        return f"{field_name(label[0])} to {field_name(label[1])}, {how}"

    def __str__(self) -> str:
        return _written("leap", _fields(self.fields), "" if self.back == 1 else f"back={self.back}")
