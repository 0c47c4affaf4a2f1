"""Kinds: settings that a recipe chooses by name, each a validated value that builds its own object."""

import inspect
from abc import ABC
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_serializer

from ordinate.errors import OrdinateError, explain, nearest, quote


class Kind(BaseModel, ABC):
    """Base of everything that a recipe names: tasks, encodings, models, schedules, optimisers.

    A recipe writes a kind as its bare name, or as a table with the name under `label` and options beside it:
    `encoding = "one-hot"` or `encoding = {kind = "sinusoidal", width = 16}`.

    What all objects of a kind have in common is declared by a base class as `ClassVar` and given as class keywords:

    >>> class Steep(Kind, name="steep", summary="falls fast"):
    ...     slope: float = 2.0
    >>> Steep.name, Steep().model_dump()
    ('steep', {'kind': 'steep', 'slope': 2.0})
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    summary: ClassVar[str]
    label: ClassVar[str] = "kind"

    def __init_subclass__(cls, **facts: Any) -> None:
        super().__init_subclass__()
        for fact, value in facts.items():
            if fact not in cls.__class_vars__:
                raise TypeError(f"no class keyword {fact!r}: {nearest(fact, sorted(cls.__class_vars__))}")
            setattr(cls, fact, value)

    @model_serializer(mode="wrap")
    def _with_name(self, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return {self.label: self.name, **handler(self)}


K = TypeVar("K", bound=Kind)


def describe(kind: type[Kind]) -> dict[str, Any]:
    """Name, summary and options of a kind for a list: each option with its default, None where it must be given."""
    required = any(field.is_required() for field in kind.model_fields.values())
    defaults = {} if required else kind().model_dump(mode="json", by_alias=False)
    options = {
        name: {
            "default": defaults.get(name, None if field.is_required() else field.default),
            "description": field.description,
        }
        for name, field in kind.model_fields.items()
    }
    return {"name": kind.name, "summary": kind.summary, "options": options}


class Table(dict[str, type[K]]):
    """Kinds by name: those of the library, and those of plug-ins once `ordinate.lab.plugins.load` has added them.

    >>> from ordinate.encodings import ENCODINGS
    >>> ENCODINGS["rope"].__name__
    'Rope'
    """

    def __init__(self, base: type[K], kinds: Iterable[type[K]] = ()) -> None:
        super().__init__((kind.name, kind) for kind in kinds)
        self.base = base

    def add(self, kind: type[K], where: str) -> None:
        """Add a kind that was found at `where`, a file or a package; it may be there already."""
        if missing := [name for name in _facts(kind) if not hasattr(kind, name)]:
            raise OrdinateError(f"{where}: {kind.__name__} has no {missing[0]!r}: add {missing[0]} = ...")
        if self.setdefault(kind.name, kind) is not kind:
            raise OrdinateError(f"{where}: the name {kind.name!r} is taken: choose another one")


def hint(name: str, table: Iterable[str]) -> str:
    """What to write instead of a name that a table does not hold.

    >>> hint("medain", ["sum", "median"])
    "did you mean 'median'?"
    """
    near = nearest(name, table)
    return f"{near} (of a plug-in: add --plugin FILE)" if isinstance(table, Table) else near


def _facts(kind: type[Kind]) -> list[str]:
    """The class attributes that every kind of this family must set: its name, its summary, ..."""
    return [
        name
        for parent in reversed(kind.__mro__)
        if issubclass(parent, Kind)
        for name, annotation in inspect.get_annotations(parent).items()
        if str(annotation).startswith("typing.ClassVar") and name not in dir(BaseModel)
    ]


def choose(
    value: object,
    table: Mapping[str, type[K]],
    where: str,
    label: str = "kind",
    default: str | None = None,
) -> K:
    """Return the kind that a recipe's value describes, or say in one line what to write instead.

    A module that has its settings as `settings`, such as an encoding, stands for them.
    `where` is the place in the recipe, such as `model.encoding`, used in errors; `default` is the name meant by a
    table that has options only.
    """
    if isinstance(of_a_module := getattr(value, "settings", None), Kind):
        value = of_a_module
    for kind in table.values():
        if isinstance(value, kind):
            return value
    if isinstance(value, Kind):
        raise OrdinateError(
            f"{where}: {value.name!r} is not allowed here: write one of {', '.join(sorted(table))}"
        )
    if isinstance(value, str):
        value = {label: value}
    if not isinstance(value, Mapping):
        raise OrdinateError(
            f"{where} = {value!r} is not allowed: write a name, one of {', '.join(sorted(table))}"
        )
    options = dict(value)
    name = options.pop(label, default)
    if name is None:
        raise OrdinateError(f"'{where}.{label}' is missing: write one of {', '.join(sorted(table))}")
    if not isinstance(name, str) or name not in table:
        raise OrdinateError(f"{where}.{label} = {quote(name)} is not known: {hint(str(name)[:100], table)}")
    try:
        return table[name](**options)
    except ValidationError as error:
        raise explain(error, where, table[name]) from None
