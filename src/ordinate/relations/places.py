"""Places: the coordinates of queries and keys as tensors; spans: where the keys of a query can be."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from ordinate.coordinates import Coordinates

By = Literal["ordinate", "index"]
Fields = tuple[str, ...] | None

_NAMES: dict[int, str] = {}


@lru_cache(maxsize=1024)
def field_code(name: str) -> int:
    """A number that stands for a field's name, the same in every process and layout."""
    code = int.from_bytes(sha256(name.encode()).digest()[:4], "big")
    _NAMES[code] = name
    return code


def field_name(code: int) -> str:
    """The name that a code stands for."""
    return _NAMES[code]


class Span(NamedTuple):
    """For every query one stretch of a list of keys: `keys[first[query] : last[query]]`."""

    keys: Int[Tensor, " key"]
    first: Int[Tensor, " query"]
    last: Int[Tensor, " query"]

    @property
    def counts(self) -> Int[Tensor, " query"]:
        """How many keys each query has."""
        return self.last - self.first

    def only(self, chosen: Bool[Tensor, " query"]) -> "Span":
        """Nothing for the other queries."""
        return self._replace(last=torch.where(chosen, self.last, self.first))


@dataclass(frozen=True)
class Places:
    """Fields, ordinates and indices of some tokens.

    A relation is asked about queries and keys whose tensors broadcast against each other: queries in a column and keys
    in a row, or one query and one key for each pair of a list.

    >>> places = Places.of(Coordinates.of(first=range(2), second=range(2)))
    >>> (places.column().ordinate - places.row().ordinate).tolist()
    [[0, -1, 0, -1], [1, 0, 1, 0], [0, -1, 0, -1], [1, 0, 1, 0]]
    """

    field: Int[Tensor, "..."]
    """Codes of the fields, see `inside`."""
    ordinate: Int[Tensor, "..."]
    index: Int[Tensor, "..."]
    """Place in the sequence."""
    tokens: int
    """Length of the whole sequence."""

    @classmethod
    def of(cls, coordinates: Coordinates) -> "Places":
        """All tokens of a sequence."""
        codes = torch.tensor([field_code(name) for name in coordinates.fields], dtype=torch.long)
        tokens = len(coordinates)
        return cls(codes[coordinates.field_tensor], coordinates.ordinate_tensor, torch.arange(tokens), tokens)

    def inside(self, *fields: str) -> Bool[Tensor, "..."]:
        """Whether a token is in one of these fields."""
        found = torch.zeros_like(self.field, dtype=torch.bool)
        for name in fields:
            found |= self.field == field_code(name)
        return found

    def along(self, coordinate: str) -> Int[Tensor, "..."]:
        """The ordinate, or the index."""
        return self.index if coordinate == "index" else self.ordinate

    def at(self, chosen: Any) -> "Places":
        """Some of the tokens, or all with another axis."""
        return Places(self.field[chosen], self.ordinate[chosen], self.index[chosen], self.tokens)

    def every_second(self) -> "Places":
        """Every second token along each axis."""
        return self.at(tuple(slice(None, None, 2) for _ in self.field.shape))

    def column(self) -> "Places":
        """As queries: [token, 1]."""
        return self.at((slice(None), None))

    def row(self) -> "Places":
        """As keys: [1, token]."""
        return self.at((None, slice(None)))

    def span(self, queries: Fields = None, keys: Fields = None) -> Span:
        """All keys of some fields, for queries of some fields; None is any field."""
        chosen = self.index if keys is None else self.inside(*keys).nonzero().flatten()
        span = Span(chosen, torch.zeros_like(self.index), torch.full_like(self.index, len(chosen)))
        return span if queries is None else span.only(self.inside(*queries))

    def span_along(
        self,
        coordinate: Int[Tensor, " token"],
        low: Int[Tensor, " token"],
        high: Int[Tensor, " token"],
        fields: Fields = None,
    ) -> Span:
        """Keys whose coordinate is in low .. high, two numbers a query; where there are fields, both tokens in them.

        >>> places = Places.of(Coordinates.of(digit=[2, 1, 0]))
        >>> keys, first, last = places.span_along(places.ordinate, places.ordinate - 1, places.ordinate)
        >>> [keys[a:b].tolist() for a, b in zip(first, last)]
        [[1, 0], [2, 1], [2]]
        """
        keys = self.index if fields is None else self.inside(*fields).nonzero().flatten()
        values, order = coordinate[keys].sort(stable=True)
        first = torch.searchsorted(values, low)
        span = Span(keys[order], first, torch.searchsorted(values, high, right=True).maximum(first))
        return span if fields is None else span.only(self.inside(*fields))


def counts_of(spans: list[Span]) -> Int[Tensor, " query"]:
    """How many keys each query has in all spans."""
    return torch.stack([span.counts for span in spans]).sum(0)


def fewest(parts: Iterable[list[Span]]) -> list[Span]:
    """For every query the spans of the part that has the fewest keys: what all parts attend to is among them."""
    listed = list(parts)
    counts = [counts_of(spans) for spans in listed]
    best, least = torch.zeros_like(counts[0]), counts[0]
    for number, count in enumerate(counts):
        best = torch.where(count < least, number, best)
        least = torch.minimum(least, count)
    return [span.only(best == number) for number, spans in enumerate(listed) for span in spans]


def together(parts: Iterable[list[Span]], tokens: int) -> list[Span]:
    """For every query the spans of all parts; where one has every key, that one alone."""
    found, covered = [], torch.zeros(tokens, dtype=torch.bool)
    spans = [span for part in parts for span in part]
    for span in spans:
        whole = (span.counts == tokens) & ~covered
        covered = covered | whole
        found.append(whole)
    return [span.only(whole | ~covered) for span, whole in zip(spans, found, strict=True)]
