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
    """class = both fields, and whether the key is at the same place or a leap back; leaps double with every loop."""
    return Leap(fields=fields or None, back=back)


def absolute() -> Absolute:
    """Every pair has a class of its own."""
    return Absolute()


def window(back: int, ahead: int = 0, *fields: str, by: By = "ordinate", cyclic: bool = False) -> Window:
    """Keys at most `back` places before the query and `ahead` places after it."""
    return Window(back=back, ahead=ahead, fields=fields or None, by=by, cyclic=cyclic)


def causal(by: By = "index") -> Causal:
    """Keys at or before the query."""
    return Causal(by=by)


def between(query: str | tuple[str, ...] | None = None, key: str | tuple[str, ...] | None = None) -> Between:
    """Queries of some fields attend to keys of some fields; None is every field."""

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
    """The pairs for which a function of the two coordinates is true, or the classes that it returns."""
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
