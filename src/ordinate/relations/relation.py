"""Relations: which pairs of positions attend, and which of them share parameters.

A relation maps a pair of coordinates to a *class* (pairs of one class share one vector), to *plain* (attended, no
vector) or to *absent* (not attended). It is an immutable value, defined at every length, built from small ones:

    aligned() * window(back=4)                     digits by significance, five places
    uniform("multiplier") | relative()             the multiplier's digits alike from everywhere, the rest by distance

`a | b` takes what `a` says and, where `a` is absent, what `b` says; `a * b` attends where both do, and a class of the
product is a pair of classes. Plain relations, such as a window, restrict what they are multiplied with.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Int
from pydantic import BeforeValidator, SerializeAsAny
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, choose
from ordinate.relations.pattern import Pattern
from ordinate.relations.places import By, Places, Span, fewest, together

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

    from ordinate.relations.bound import BoundRelation
    from ordinate.relations.flex import MaskMod


class Outcome(NamedTuple):
    """What a relation says of pairs: whether they attend, whether they have a class, and the numbers of its label."""

    attended: Bool[Tensor, "*pair"]
    classed: Bool[Tensor, "*pair"]
    label: tuple[Int[Tensor, "*pair"], ...]

    @classmethod
    def plain(cls, attended: Bool[Tensor, "*pair"]) -> "Outcome":
        """Attended pairs without a class."""
        return cls(attended, torch.zeros_like(attended), ())

    @classmethod
    def of(cls, attended: Bool[Tensor, "*pair"], *label: Int[Tensor, "..."]) -> "Outcome":
        """Attended pairs with a label of several numbers, each broadcast to all pairs."""
        return cls(attended, attended, tuple(number.expand(attended.shape) for number in label))


class Relation(Kind):
    """A map from pairs of coordinates to a class, to plain or to absent."""

    arity: ClassVar[int] = 0
    """Numbers in a label."""

    @abstractmethod
    def relate(self, query: Places, key: Places) -> Outcome:
        """What becomes of every pair; queries and keys broadcast against each other, see `Places`."""

    def candidates(self, places: Places) -> list[Span]:
        """For every query keys among which are all that it attends to; the fewer, the faster. Here: all tokens."""
        return [places.span()]

    @abstractmethod
    def describe(self, label: tuple[int, ...]) -> str:
        """Name a class for a reader."""

    @property
    def width(self) -> int:
        """Numbers in a label of this very relation."""
        return self.arity

    @property
    def depth(self) -> int:
        """How deeply relations are nested."""
        return 1

    def named_fields(self) -> tuple[str, ...]:
        """The fields that this relation mentions by name: its `fields`, where it has some."""
        return getattr(self, "fields", None) or ()

    def limits(self) -> Mapping[By, int] | None:
        """The largest numbers that it compares differences of ordinates and of indices with, 0 where it takes them as
        they are; None where it may look at anything, as a function of a user does."""
        return None

    def at_loop(self, loop: int) -> "Relation":
        """The relation in a loop of a looped model, counted from 0; the same unless a kind says otherwise."""
        return self

    def __or__(self, other: "Relation") -> "Relation":
        return Union(of=(self, other))

    def __mul__(self, other: "Relation") -> "Relation":
        return Product(of=(self, other))

    def __repr__(self) -> str:
        return str(self)

    def bind(self, trained: Coordinates | Iterable[Coordinates] | None = None) -> "BoundRelation":
        """Number the classes: those of the trained layouts, or all, where the relation says by itself which there are.

        >>> from ordinate.coordinates import layout
        >>> from ordinate.relations import aligned, window
        >>> near = (aligned("number") * window(back=2)).bind()
        >>> near.classes, near.pattern(layout(number=1000)).keys_per_query
        (3, 2.997)
        """
        from ordinate.relations.bound import BoundRelation

        return BoundRelation(self, trained)

    def on(self, layout: Coordinates, trained: Coordinates | Iterable[Coordinates] | None = None) -> Pattern:
        """The pattern of a layout, with the classes of that layout, or of the trained ones; kept from call to call.

        Classes are numbered in the order of their labels, so patterns of one relation on two layouts have the same
        numbers where they have the same classes. To be sure of it, name the trained layouts, or `bind` once and take
        the patterns of what is bound.
        """
        from ordinate.relations.bound import bound_to

        if trained is None or isinstance(trained, Coordinates):
            return bound_to(self, trained or layout).pattern(layout)
        return bound_to(self, tuple(trained)).pattern(layout)

    def mask_mod(
        self,
        layout: Coordinates,
        trained: Coordinates | Iterable[Coordinates] | None = None,
        device: str | torch.device = "cpu",
    ) -> "MaskMod":
        """Which pairs attend, as FlexAttention asks: a function of the indices of sample, head, query and key.

        >>> from ordinate.coordinates import layout
        >>> from ordinate.relations import window
        >>> near = window(back=1).mask_mod(layout(number=3))
        >>> [bool(near(0, 0, 2, key)) for key in range(3)]
        [False, True, True]
        """
        from ordinate.relations.flex import mask_mod

        return mask_mod(self.on(layout, trained), torch.device(device))

    def block_mask(
        self,
        layout: Coordinates,
        trained: Coordinates | Iterable[Coordinates] | None = None,
        device: str | torch.device = "cpu",
    ) -> "BlockMask":
        """The same as FlexAttention's `block_mask`, which leaves out blocks of pairs that are all absent."""
        from ordinate.relations.flex import block_mask

        return block_mask(self.on(layout, trained), torch.device(device))

    def show(self, layout: Coordinates | int, most: int = 24) -> str:
        """A small table of the classes, and a picture of the class matrix; a number is that of tokens in one field."""
        from ordinate.relations.bound import show

        return show(self, layout, most)


RELATIONS: dict[str, type[Relation]] = {}
"""Filled by `register`: the relations that a recipe can name."""


def register(kind: type[Relation]) -> type[Relation]:
    """Let recipes name a kind of relation."""
    RELATIONS[kind.name] = kind
    return kind


DEEPEST = 64
"""Combinations inside one another, such as `a | b | c | ...`."""


def _parts(value: Any) -> tuple[Relation, ...]:
    if not isinstance(value, list | tuple) or not value:
        raise OrdinateError(f"relation.of = {value!r} is not allowed: write a list of relations")
    try:
        parts = tuple(choose(part, RELATIONS, "relation") for part in value)
        deep = 1 + max(part.depth for part in parts)
    except RecursionError:
        deep = DEEPEST + 1
    if deep > DEEPEST:
        raise OrdinateError(f"relation.of: more than {DEEPEST} relations are nested: write longer lists")
    return parts


Parts = Annotated[tuple[SerializeAsAny[Relation], ...], BeforeValidator(_parts)]


class Combination(Relation):
    """A relation made of others."""

    of: Parts

    @property
    @override
    def depth(self) -> int:
        return 1 + max(part.depth for part in self.of)

    @override
    def named_fields(self) -> tuple[str, ...]:
        return tuple(name for part in self.of for name in part.named_fields())

    @override
    def limits(self) -> Mapping[By, int] | None:
        limits: dict[By, int] = {}
        for part in self.of:
            found = part.limits()
            if found is None:
                return None
            limits |= {by: max(limit, limits.get(by, 0)) for by, limit in found.items()}
        return limits

    @override
    def at_loop(self, loop: int) -> "Combination":
        return self.model_copy(update={"of": tuple(part.at_loop(loop) for part in self.of)})


@register
class Union(Combination):
    """What the first part says that does not call the pair absent."""

    name: ClassVar[str] = "union"
    summary: ClassVar[str] = "what the first relation says that attends to the pair"

    @property
    @override
    def width(self) -> int:
        """Which part, and its label."""
        return 1 + max(part.width for part in self.of)

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        shape = torch.broadcast_shapes(query.field.shape, key.field.shape)
        attended = torch.zeros(shape, dtype=torch.bool)
        zero = torch.zeros((), dtype=torch.long).expand(shape)
        classed, label = attended, [zero] * self.width
        for number, part in reversed(list(enumerate(self.of))):
            said = part.relate(query, key)
            own = [zero + number, *said.label]
            own += [zero] * (self.width - len(own))
            attended = attended | said.attended
            classed = torch.where(said.attended, said.classed, classed)
            label = [torch.where(said.attended, new, old) for new, old in zip(own, label, strict=True)]
        return Outcome(attended, classed, tuple(label))

    @override
    def candidates(self, places: Places) -> list[Span]:
        return together((part.candidates(places) for part in self.of), places.tokens)

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        part = self.of[label[0]]
        return part.describe(label[1 : 1 + part.width])

    def __str__(self) -> str:
        return " | ".join(
            f"({part})" if n and isinstance(part, Union) else str(part) for n, part in enumerate(self.of)
        )


@register
class Product(Combination):
    """Attends where all parts do; a class is a tuple of the parts' classes."""

    name: ClassVar[str] = "product"
    summary: ClassVar[str] = "pairs that all relations attend to; classes are tuples of classes"

    @property
    @override
    def width(self) -> int:
        """For each part whether it has a class, and its label."""
        return sum(1 + part.width for part in self.of)

    @override
    def relate(self, query: Places, key: Places) -> Outcome:
        said = [part.relate(query, key) for part in self.of]
        attended, classed = said[0].attended, said[0].classed
        for outcome in said[1:]:
            attended, classed = attended & outcome.attended, classed | outcome.classed
        label = []
        for outcome in said:
            label += [outcome.classed.long(), *(number * outcome.classed for number in outcome.label)]
        return Outcome(attended, classed & attended, tuple(label))

    @override
    def candidates(self, places: Places) -> list[Span]:
        return fewest(part.candidates(places) for part in self.of)

    @override
    def describe(self, label: tuple[int, ...]) -> str:
        words, place = [], 0
        for part in self.of:
            if label[place]:
                words.append(part.describe(label[place + 1 : place + 1 + part.width]))
            place += 1 + part.width
        return ", ".join(words)

    def __str__(self) -> str:
        return " * ".join(
            f"({part})" if isinstance(part, Union) or (n and isinstance(part, Product)) else str(part)
            for n, part in enumerate(self.of)
        )
