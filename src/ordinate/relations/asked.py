"""What a relation says of a sequence: all attended pairs and their labels, asking only about pairs that may attend."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor

from ordinate.coordinates import Coordinates, ordinary_tensors
from ordinate.errors import OrdinateError
from ordinate.relations.places import By, Places, Span, counts_of, field_code
from ordinate.relations.relation import Relation

PAIRS_AT_ONCE = 2**18
"""Pairs that a relation is asked about in one call."""

ENDLESS = 2**40
"""Tokens of a sequence in which made-up pairs stand: a ring of so many has no end in sight."""

MADE_UP = 2**23
"""Made-up pairs that a relation is asked about at most."""

OTHER = ""
"""Stands for every field that a relation does not name."""

Label = tuple[int, ...] | None
"""The label of a class; None for plain."""


class Asked(NamedTuple):
    """All attended pairs of a sequence, sorted by query and key, and for each of them which label it has."""

    query: Int[Tensor, " pair"]
    key: Int[Tensor, " pair"]
    which: Int[Tensor, " pair"]
    labels: list[Label]


def ask(relation: Relation, coordinates: Coordinates) -> Asked:
    """Ask a relation about all pairs of tokens that may attend, some queries at a time."""
    places = Places.of(coordinates)
    spans = relation.candidates(places)
    numbers: dict[Label, int] = {}
    none = torch.zeros(0, dtype=torch.long)
    found = [(none, none, none)]
    for first, last in _steps(spans, places.tokens):
        query, key = _pairs(spans, first, last, places.tokens)
        attended, classed, label = relation.relate(places.at(query), places.at(key))
        if not attended.all():
            chosen = attended.nonzero().flatten()
            query, key, classed = query[chosen], key[chosen], classed[chosen]
            label = tuple(column[chosen] for column in label)
        rows, which = distinct((classed.long(), *(column * classed for column in label)), len(query))
        known = [numbers.setdefault(tuple(row) if has else None, len(numbers)) for has, *row in rows]
        found.append((query, key, torch.tensor(known, dtype=torch.long)[which]))
    query, key, which = (torch.cat(parts) for parts in zip(*found, strict=True))
    return Asked(query, key, which, list(numbers))


def _steps(spans: list[Span], tokens: int) -> Iterator[tuple[int, int]]:
    """Cut the queries so that each step has few pairs; a step has one query at least."""
    ends = counts_of(spans).cumsum(0)
    first = 0
    while first < tokens:
        before = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(torch.searchsorted(ends, before + PAIRS_AT_ONCE, right=True)))
        yield first, last
        first = last


def _pairs(
    spans: list[Span], first: int, last: int, tokens: int
) -> tuple[Int[Tensor, " pair"], Int[Tensor, " pair"]]:
    """The pairs of some queries, each pair once, sorted by query and key."""
    found = []
    for span in spans:
        count = span.counts[first:last]
        query = torch.repeat_interleave(torch.arange(first, last), count)
        start = span.first[first:last] - (count.cumsum(0) - count)
        place = torch.arange(len(query)) + start[query - first]
        found.append((query, span.keys[place]))
    query, key = (torch.cat(parts) for parts in zip(*found, strict=True))
    pair = query * tokens + key
    if bool((pair[1:] > pair[:-1]).all()):
        return query, key
    pair = torch.unique(pair)
    query = pair // tokens
    return query, pair - query * tokens


def distinct(
    columns: tuple[Int[Tensor, " row"], ...], length: int
) -> tuple[list[list[int]], Int[Tensor, " row"]]:
    """Distinct rows of a table, and for every row which of them it is. Tables have few distinct rows and many rows.

    >>> distinct((torch.tensor([7, 7, 7]), torch.tensor([1, 0, 1])), 3)
    ([[7, 0], [7, 1]], tensor([1, 0, 1]))
    """
    if not length:
        return [], torch.zeros(0, dtype=torch.long)
    number, size = torch.zeros(length, dtype=torch.long), 1
    for column in columns:
        low, high = (int(bound) for bound in column.aminmax())
        if high - low < length:
            place, count = column - low, high - low + 1
        else:
            values = torch.unique(torch.unique_consecutive(column))
            place, count = torch.searchsorted(values, column), len(values)
        if size > length:
            number, size = _renumbered(number, size)
        number, size = number * count + place, size * count
    number, size = _renumbered(number, size)
    example = torch.zeros(size, dtype=torch.long)
    example[number] = torch.arange(length)
    return torch.stack([column[example] for column in columns], -1).tolist(), number


def _renumbered(number: Int[Tensor, " row"], size: int) -> tuple[Int[Tensor, " row"], int]:
    """The numbers that there are as 0, 1, ... in their order, and how many there are."""
    if size > 4 * len(number):
        values, number = torch.unique(number, return_inverse=True)
        return number, len(values)
    there = torch.zeros(size, dtype=torch.long)
    there[number] = 1
    return (there.cumsum(0) - 1)[number], int(there.sum())


@ordinary_tensors()
def all_labels(relation: Relation, fields: tuple[str, ...]) -> set[Label] | None:
    """The labels that a relation can have between tokens of these fields, at any length; None where there is no end.

    A relation compares differences with numbers of its own (`Relation.limits`). So all that it can say of any pair it
    says of pairs whose differences are up to one more than that, and a label that first comes further away, or at
    another place, is one of endlessly many. In several fields ordinates and indices differ independently; in one they
    are taken to grow together.
    """
    limits = relation.limits()
    if limits is None:
        return None
    near: dict[By, list[int]] = {by: list(range(-limit - 1, limit + 2)) for by, limit in limits.items()}
    far = {
        by: [*near[by], *(sign * (limit + n) for sign in (1, -1) for n in (2, 9))]
        for by, limit in limits.items()
    }
    found = _labels(relation, fields, near, 0)
    further = _labels(relation, fields, far, 0) | _labels(relation, fields, near, 10**6 + 7)
    return found if further <= found else None


def _labels(
    relation: Relation, fields: tuple[str, ...], differences: Mapping[By, list[int]], start: int
) -> set[Label]:
    """The labels of made-up pairs: all pairs of fields, keys at the start, queries so far behind them."""
    ordinates, indices = (torch.tensor(differences.get(by, [0])) for by in ("ordinate", "index"))
    codes = torch.tensor([field_code(name) for name in (*fields, OTHER)])
    together = len(fields) == 1
    count = len(ordinates) + len(indices) if together else len(ordinates) * len(indices)
    if count * len(codes) ** 2 > MADE_UP:
        raise OrdinateError(
            f"{relation} uses {count} differences between tokens: write trained=, with the layouts of training"
        )
    if together:
        behind = torch.cat([ordinates, indices]).unique()[:, None].expand(-1, 2)
    else:
        behind = torch.cartesian_prod(ordinates, indices)
    query, key, row = torch.cartesian_prod(
        *(torch.arange(len(part)) for part in (codes, codes, behind))
    ).unbind(-1)
    there = torch.full_like(row, start)
    said = relation.relate(
        Places(codes[query], there + behind[row, 0], there + behind[row, 1], ENDLESS),
        Places(codes[key], there, there, ENDLESS),
    )
    chosen = (said.attended & said.classed).nonzero().flatten()
    rows, _ = distinct(tuple(column[chosen] for column in said.label), len(chosen))
    return {tuple(row) for row in rows if field_code(OTHER) not in row}
