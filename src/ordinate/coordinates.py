"""Coordinates: where a token stands. The one word that tasks and positions share.

A token has a *field* (first operand, answer, text, ...) and an *ordinate*: its place inside that field.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Int
from torch import Tensor


@dataclass(frozen=True)
class Coordinates:
    """Field and ordinate of every token of a sequence.

    Hashable, so that whatever depends on positions only can be computed once and kept.

    >>> c = Coordinates.of(number=range(3), dummy=range(1))
    >>> c.field, c.ordinate, c.fields
    ((0, 0, 0, 1), (0, 1, 2, 0), ('number', 'dummy'))
    >>> c.label(1)
    'number 1'
    """

    fields: tuple[str, ...]
    field: tuple[int, ...]
    ordinate: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.field) != len(self.ordinate):
            raise ValueError(
                f"every token needs a field and an ordinate: {len(self.field)} fields, "
                f"{len(self.ordinate)} ordinates"
            )
        if self.field and not 0 <= min(self.field) <= max(self.field) < len(self.fields):
            raise ValueError(f"field numbers must index {self.fields}, got {sorted(set(self.field))}")

    @classmethod
    def of(cls, **ordinates: Iterable[int]) -> "Coordinates":
        """Lay fields one after another, each with its ordinates in token order."""
        listed = {name: tuple(values) for name, values in ordinates.items()}
        return cls(
            fields=tuple(listed),
            field=tuple(i for i, values in enumerate(listed.values()) for _ in values),
            ordinate=tuple(o for values in listed.values() for o in values),
        )

    def __len__(self) -> int:
        return len(self.field)

    def __add__(self, other: "Coordinates") -> "Coordinates":
        """Append the tokens of `other`; fields of the same name are one field."""
        fields = self.fields + tuple(f for f in other.fields if f not in self.fields)
        return Coordinates(
            fields=fields,
            field=self.field + tuple(fields.index(other.fields[i]) for i in other.field),
            ordinate=self.ordinate + other.ordinate,
        )

    def label(self, token: int) -> str:
        """Return a reader's name of one token, used on axes of figures."""
        return f"{self.fields[self.field[token]]} {self.ordinate[token]}"

    @cached_property
    @torch.inference_mode(False)
    def field_tensor(self) -> Int[Tensor, " token"]:
        """The fields as a tensor."""
        return torch.tensor(self.field, dtype=torch.long)

    @cached_property
    @torch.inference_mode(False)
    def ordinate_tensor(self) -> Int[Tensor, " token"]:
        """The ordinates as a tensor."""
        return torch.tensor(self.ordinate, dtype=torch.long)
