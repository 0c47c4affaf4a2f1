"""Relations: which pairs of positions attend, and which of them share parameters.

A relation maps a pair of coordinates to a *class* (pairs of one class share one vector), to *plain* (attended, no
vector) or to *absent* (not attended). It is an immutable value, defined at every length, built from small ones:

    aligned() * window(back=4)                     digits by significance, five places
    uniform("multiplier") | relative()             the multiplier's digits alike from everywhere, the rest by distance

`a | b` takes what `a` says and, where `a` is absent, what `b` says; `a * b` attends where both do, and a class of the
product is a pair of classes. Plain relations, such as a window, restrict what they are multiplied with.
"""

from abc import abstractmethod
from typing import Annotated, Any, ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Int
from pydantic import BeforeValidator, SerializeAsAny
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.kinds import Kind, choose
from ordinate.relations.places import Places


class Outcome(NamedTuple):
    """What a relation says of pairs: whether they attend, whether they have a class, and its label."""

    attended: Bool[Tensor, "query key"]
    classed: Bool[Tensor, "query key"]
    label: Int[Tensor, "query key arity"]

    @classmethod
    def plain(cls, attended: Bool[Tensor, "query key"]) -> "Outcome":
        """Attended pairs without a class."""
        return cls(attended, torch.zeros_like(attended), torch.zeros(*attended.shape, 0, dtype=torch.long))

    @classmethod
    def of(cls, attended: Bool[Tensor, "query key"], *label: Int[Tensor, "..."]) -> "Outcome":
        """Attended pairs with a label of several numbers, each broadcast to all pairs."""
        shape = attended.shape
        return cls(attended, attended, torch.stack([part.expand(shape) for part in label], dim=-1))


class Relation(Kind):
    """A map from pairs of coordinates to a class, to plain or to absent."""

    arity: ClassVar[int] = 0
    """Numbers in a label."""

    @abstractmethod
    def relate(self, query: Places, key: Places) -> Outcome:
        """What becomes of every pair; queries stand in a column, keys in a row."""

    @abstractmethod
    def describe(self, label: tuple[int, ...]) -> str:
        """Name a class for a reader."""

    @property
    def width(self) -> int:
        """Numbers in a label of this very relation."""
        return self.arity

    def named_fields(self) -> tuple[str, ...]:
        """The fields that this relation mentions by name."""
        return ()

    def at_loop(self, loop: int) -> "Relation":
        """The relation in a loop of a looped model, counted from 0; the same unless a kind says otherwise."""
        return self

    def __or__(self, other: "Relation") -> "Relation":
        return Union(of=(self, other))

    def __mul__(self, other: "Relation") -> "Relation":
        return Product(of=(self, other))

    def __repr__(self) -> str:
        return str(self)

    def show(self, coordinates: Coordinates, most: int = 24) -> str:
        """A small table of the classes at these coordinates, and a picture of the class matrix."""
        from ordinate.relations.show import show

        return show(self, coordinates, most)


RELATIONS: dict[str, type[Relation]] = {}
"""Filled by `register`: the relations that a recipe can name."""


def register(kind: type[Relation]) -> type[Relation]:
    """Let recipes name a kind of relation."""
    RELATIONS[kind.name] = kind
    return kind


def _parts(value: Any) -> tuple[Relation, ...]:
    return tuple(choose(part, RELATIONS, "relation") for part in value)


Parts = Annotated[tuple[SerializeAsAny[Relation], ...], BeforeValidator(_parts)]


class Combination(Relation):
    """A relation made of others."""

    of: Parts

    def named_fields(self) -> tuple[str, ...]:
        """Of all parts."""
        return tuple(name for part in self.of for name in part.named_fields())

    def at_loop(self, loop: int) -> "Combination":
        """Of all parts."""
        return self.model_copy(update={"of": tuple(part.at_loop(loop) for part in self.of)})


@register
class Union(Combination):
    """What the first part says that does not call the pair absent."""

    name: ClassVar[str] = "union"
    summary: ClassVar[str] = "what the first relation says that attends to the pair"

    @property
    def width(self) -> int:
        """Which part, and its label."""
        return 1 + max(part.width for part in self.of)

    def relate(self, query: Places, key: Places) -> Outcome:
        """Fill in from the last part to the first."""
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        result = Outcome(
            torch.zeros(shape, dtype=torch.bool),
            torch.zeros(shape, dtype=torch.bool),
            torch.zeros(*shape, self.width, dtype=torch.long),
        )
        for number, part in reversed(list(enumerate(self.of))):
            said = part.relate(query, key)
            result.attended.logical_or_(said.attended)
            result.classed[said.attended] = said.classed[said.attended]
            label = torch.zeros_like(result.label)
            label[..., 0] = number
            label[..., 1 : 1 + part.width] = said.label
            result.label[said.attended] = label[said.attended]
        return result

    def describe(self, label: tuple[int, ...]) -> str:
        """As the part says it."""
        part = self.of[label[0]]
        return part.describe(label[1 : 1 + part.width])

    def __str__(self) -> str:
        return " | ".join(str(part) for part in self.of)


@register
class Product(Combination):
    """Attends where all parts do; a class is a tuple of the parts' classes."""

    name: ClassVar[str] = "product"
    summary: ClassVar[str] = "pairs that all relations attend to; classes are tuples of classes"

    @property
    def width(self) -> int:
        """For each part whether it has a class, and its label."""
        return sum(1 + part.width for part in self.of)

    def relate(self, query: Places, key: Places) -> Outcome:
        """Combine the parts."""
        said = [part.relate(query, key) for part in self.of]
        columns = []
        for outcome in said:
            columns += [outcome.classed.long()[..., None], outcome.label * outcome.classed[..., None]]
        attended = torch.stack([outcome.attended for outcome in said]).all(0)
        classed = torch.stack([outcome.classed for outcome in said]).any(0)
        return Outcome(attended, classed & attended, torch.cat(columns, dim=-1))

    def describe(self, label: tuple[int, ...]) -> str:
        """The classes of the parts that have one."""
        words, place = [], 0
        for part in self.of:
            if label[place]:
                words.append(part.describe(label[place + 1 : place + 1 + part.width]))
            place += 1 + part.width
        return ", ".join(words)

    def __str__(self) -> str:
        return " * ".join(f"({part})" if isinstance(part, Union) else str(part) for part in self.of)
