"""Relations: declared structure. Small functions make them, `|` and `*` combine them."""

from ordinate.relations.basic import Absolute, Aligned, Leap, Relative, Uniform
from ordinate.relations.bound import BoundRelation
from ordinate.relations.pattern import ABSENT, Block, Pattern, Run
from ordinate.relations.places import By, Places, Span
from ordinate.relations.plain import (
    Between,
    Causal,
    Everywhere,
    Itself,
    Predicate,
    Where,
    Window,
)
from ordinate.relations.relation import RELATIONS, Outcome, Product, Relation, Union


def relative(by: By = "index", clip: int | None = None, cyclic: bool = False) -> Relative:
    """class = distance in the sequence."""
    return Relative(by=by, clip=clip, cyclic=cyclic)


def aligned(*fields: str, by: By = "ordinate") -> Aligned:
    """class = both fields and the difference of ordinates, inside these fields (all where none is given)."""
    return Aligned(fields=fields or None, by=by)


def uniform(*fields: str) -> Uniform:
    """class = the key's own coordinate, for keys in these fields."""
    return Uniform(fields=fields)


def leap(*fields: str, back: int = 1) -> Leap:
    """class = both fields, and same place or a leap back, which doubles with every loop of a looped model."""
    return Leap(fields=fields or None, back=back)


def absolute() -> Absolute:
    """Every pair its own class."""
    return Absolute()


def window(back: int, ahead: int = 0, *fields: str, by: By = "ordinate", cyclic: bool = False) -> Window:
    """Keys at most so many places back or ahead."""
    return Window(back=back, ahead=ahead, fields=fields or None, by=by, cyclic=cyclic)


def causal(by: By = "index") -> Causal:
    """Keys at or before the query."""
    return Causal(by=by)


def between(query: str | tuple[str, ...] | None = None, key: str | tuple[str, ...] | None = None) -> Between:
    """Queries of some fields, keys of some fields; None is any."""

    def fields(given: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
        return (given,) if isinstance(given, str) else given

    return Between(query=fields(query), key=fields(key))


def everywhere() -> Everywhere:
    """All pairs attend."""
    return Everywhere()


def itself() -> Itself:
    """Every token attends to itself."""
    return Itself()


def where(function: Predicate) -> Where:
    """Any function of the coordinates."""
    return Where(function=function)


__all__ = [
    "ABSENT",
    "RELATIONS",
    "Absolute",
    "Aligned",
    "Between",
    "Block",
    "BoundRelation",
    "Causal",
    "Everywhere",
    "Itself",
    "Leap",
    "Outcome",
    "Pattern",
    "Places",
    "Product",
    "Relation",
    "Relative",
    "Run",
    "Span",
    "Uniform",
    "Union",
    "Where",
    "Window",
    "absolute",
    "aligned",
    "between",
    "causal",
    "everywhere",
    "itself",
    "leap",
    "relative",
    "uniform",
    "where",
    "window",
]
