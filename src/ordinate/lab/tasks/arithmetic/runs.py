"""Pairs of numbers whose longest run is exactly k places, drawn uniformly and without rejection.

A place of a sum has a type, by the sum of its two digits: kill (below 9), propagate (9), generate (10 or more),
with 45, 10 and 45 of the 100 pairs of digits. A *rule* says how the run that ends at a place grows:

    cascade    generate starts a run of 1, propagate prolongs one that there is, kill ends it
    carries    generate prolongs a run, propagate and kill end it
    nines      propagate prolongs a run, kill and generate end it

Reading places from the least significant, the state is (length c of the run that ends here, whether a run has
reached k). Backwards, b_i(c, hit) = log of the share of types of places i, i + 1, ... that keep all runs at most k
and reach k; forwards, place i gets type t with probability w_t exp(b_{i+1}(next) - b_i(c, hit)). In logarithms
this is exact at any length.
"""

from functools import lru_cache
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

WEIGHTS = (0.45, 0.10, 0.45)
"""Shares of kill, propagate and generate among pairs of digits."""

TOGETHER = 64
"""Up to this many places the tables of all k are kept as one, so that every sample can have its own k."""

Rule = tuple[int, int, int]
"""What kill, propagate and generate do to a run: 0 end it, 1 start it anew, 2 prolong it if there is one, 3 prolong."""

CASCADE: Rule = (0, 2, 1)
CARRIES: Rule = (0, 0, 3)
NINES: Rule = (0, 3, 0)


class Table(NamedTuple):
    """For runs of exactly k, k in a list: when to draw which type, and the state that follows.

    States are c + (size of a column) * hit. A uniform number below the first threshold is a kill, below the
    second a propagate, else a generate.
    """

    thresholds: Float[Tensor, "k place state 2"]
    following: Int[Tensor, "k state type"]
    start: Int[Tensor, " k"]


def follow(rule: Rule, run: Int[Tensor, " run"]) -> Int[Tensor, "run type"]:
    """The run after a place of each type.

    >>> follow(CASCADE, torch.arange(3)).tolist()
    [[0, 0, 1], [0, 2, 1], [0, 3, 1]]
    """
    grown = torch.stack(
        [torch.zeros_like(run), torch.ones_like(run), torch.where(run > 0, run + 1, 0), run + 1]
    )
    return grown[list(rule)].T


@lru_cache(maxsize=8)
def table(rule: Rule, places: int, longest: tuple[int, ...]) -> Table:
    """The table for numbers of this many places and each k of `longest`."""
    each = [_table(rule, places, k, size=max(longest) + 1) for k in longest]
    return Table(*(torch.stack(part) for part in zip(*each, strict=True)))


def _table(
    rule: Rule, places: int, k: int, size: int
) -> tuple[Float[Tensor, "place state 2"], Int[Tensor, "state type"], Int[Tensor, ""]]:
    run = torch.arange(size)
    after = follow(rule, run)
    allowed = (run <= k)[:, None] & (after <= k)
    after = after.clamp(max=k)
    # hit: 0 or 1, by rows; a run that reaches k has hit.
    hit = torch.stack([(after == k).long(), torch.ones_like(after)])
    following = (after + size * hit).flatten(0, 1)
    weights = torch.where(allowed, torch.tensor(WEIGHTS, dtype=torch.float64).log(), -torch.inf).repeat(2, 1)
    share = torch.full((2 * size,), -torch.inf, dtype=torch.float64)
    share[size:] = 0
    thresholds = torch.empty(places, 2 * size, 2, dtype=torch.float64)
    for place in reversed(range(places)):
        logits = weights + share[following]
        share = logits.logsumexp(-1)
        kill, propagate, generate = logits.softmax(-1).nan_to_num(0.0).unbind(-1)
        # A type that cannot be has an interval of exactly nothing, whatever the rounding.
        second = 1 - generate
        thresholds[place] = torch.stack([torch.where(propagate > 0, kill, second), second], -1)
    return thresholds, following, torch.tensor(size if k == 0 else 0)


def draw_types(
    rule: Rule, places: int, longest: Int[Tensor, " batch"], generator: Generator
) -> Int[Tensor, "batch place"]:
    """Types of places, 0 kill, 1 propagate, 2 generate, uniform over pairs whose longest run is the one asked for."""
    if places <= TOGETHER:
        return _walk(table(rule, places, tuple(range(places + 1))), longest, generator)
    types = longest.new_empty(len(longest), places)
    for k in longest.unique().tolist():
        rows = (longest == k).nonzero().squeeze(-1)
        types[rows] = _walk(table(rule, places, (k,)), torch.zeros_like(rows), generator)
    return types


def _walk(table: Table, which: Int[Tensor, " batch"], generator: Generator) -> Int[Tensor, "batch place"]:
    device = which.device
    _, places, states, _ = table.thresholds.shape
    thresholds = table.thresholds.to(device).reshape(-1, 2)
    following = table.following.to(device).reshape(-1)
    uniform = torch.rand(places, len(which), generator=generator, device=device, dtype=torch.float64)
    state = table.start.to(device)[which]
    types = []
    for place in range(places):
        limits = thresholds[(which * places + place) * states + state]
        kind = (uniform[place].unsqueeze(-1) >= limits).sum(-1)
        state = following[(which * states + state) * 3 + kind]
        types.append(kind)
    return torch.stack(types, -1)


@lru_cache(maxsize=4)
def _pairs(device: torch.device) -> Int[Tensor, "type ninety 2"]:
    """The pairs of digits of each type, repeated to 90 of them: a multiple of 45 and of 10."""
    pairs = [(a, b) for a in range(10) for b in range(10)]
    by_type = [
        [(a, b) for a, b in pairs if a + b < 9],
        [(a, b) for a, b in pairs if a + b == 9],
        [(a, b) for a, b in pairs if a + b > 9],
    ]
    return torch.tensor([listed * (90 // len(listed)) for listed in by_type], device=device)


def draw_pairs(types: Int[Tensor, "batch place"], generator: Generator) -> Int[Tensor, "batch 2 place"]:
    """Digits of two numbers, uniform over those with places of these types."""
    which = torch.randint(90, types.shape, generator=generator, device=types.device)
    return _pairs(types.device)[types, which].movedim(-1, 1)
