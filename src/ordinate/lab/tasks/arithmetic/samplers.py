"""Samplers: which numbers are drawn. An option of a task names one.

Pairs of numbers whose longest run is exactly k places are drawn uniformly and without rejection. A place of a sum has
a type, by the sum of its two digits: kill (below 9), propagate (9), generate (10 or more), with 45, 10 and 45 of the
100 pairs of digits. A *rule* says how the run that ends at a place grows:

    cascade    generate starts a run of 1, propagate prolongs one that there is, kill ends it
    carries    generate prolongs a run, propagate and kill end it
    nines      propagate prolongs a run, kill and generate end it

Reading places from the least significant, the state is (length c of the run that ends here, whether a run has
reached k). Backwards, b_i(c, hit) = log of the share of types of places i, i + 1, ... that keep all runs at most k
and reach k; forwards, place i gets type t with probability w_t exp(b_{i+1}(next) - b_i(c, hit)). In logarithms
this is exact at any length.
"""

from abc import abstractmethod
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float, Int
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Generator, Tensor
from typing_extensions import override

from ordinate.kinds import Kind, choose
from ordinate.lab.tasks.sampling import chances, integers

WEIGHTS = (0.45, 0.10, 0.45)
"""Shares of kill, propagate and generate among pairs of digits."""

TOGETHER = 64
"""Up to this many places the tables of all k are kept as one, so that every sample can have its own k."""

Rule = tuple[int, int, int]
"""What kill, propagate and generate do to a run: 0 end, 1 start, 2 prolong it if there is one, 3 prolong or start."""

CASCADE: Rule = (0, 2, 1)
CARRIES: Rule = (0, 0, 3)
NINES: Rule = (0, 3, 0)


class RunTable(NamedTuple):
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
def run_table(rule: Rule, places: int, longest: tuple[int, ...]) -> RunTable:
    """The table for numbers of this many places and each k of `longest`."""
    each = [_table(rule, places, k, size=max(longest) + 1) for k in longest]
    return RunTable(*(torch.stack(part) for part in zip(*each, strict=True)))


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
        return _walk(run_table(rule, places, tuple(range(places + 1))), longest, generator)
    types = longest.new_empty(len(longest), places)
    for k in longest.unique().tolist():
        rows = (longest == k).nonzero().squeeze(-1)
        types[rows] = _walk(run_table(rule, places, (k,)), torch.zeros_like(rows), generator)
    return types


def _walk(table: RunTable, which: Int[Tensor, " batch"], generator: Generator) -> Int[Tensor, "batch place"]:
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


class Sampler(Kind):
    """Draws the operands of a batch of sums or products."""

    pairs: ClassVar[bool] = False
    """Whether two numbers are drawn that belong together."""

    @property
    def joint(self) -> bool:
        """Whether the places that are drawn belong together, so that none may be cut."""
        return True

    def places(self, digits: int, width: int) -> int:
        """How many places the numbers have that are drawn."""
        return digits

    @abstractmethod
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        """Draw operands below 10^digits as digits, least significant first; `width` is what fits a field."""


class Uniform(Sampler, name="uniform", summary="uniform over numbers"):
    """Numbers uniform in [0, 10^digits)."""

    @property
    @override
    def joint(self) -> bool:
        return False

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        return integers(0, 10, (count, operands, digits), generator)


class _LongestRun(Sampler, pairs=True):
    """Pairs whose longest run, by a rule, is uniform on 0 to digits; uniform over pairs with that run."""

    rule: ClassVar[Rule]

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        longest = integers(0, digits + 1, (count,), generator)
        return draw_pairs(draw_types(self.rule, digits, longest, generator), generator)


class Complexity(
    _LongestRun,
    name="complexity",
    summary="uniform over the longest cascade of carries, then over pairs that have it",
    rule=CASCADE,
):
    """Pairs whose longest cascade of carries is uniform on 0 to digits; uniform over pairs with that cascade."""


class Chains(
    _LongestRun,
    name="chains",
    summary="uniform over the longest row of nines, with and without a carry into it",
    rule=NINES,
):
    """Pairs whose longest row of places that sum to 9 is uniform on 0 to digits; uniform over pairs with that row.

    Such a row hands a carry on if one comes in, and stays still if none does: unlike `complexity`, this sampler shows
    both, so that a row of nines alone does not tell that there is a carry.
    """


def _hard(value: Any) -> Sampler:
    return choose(value, {kind.name: kind for kind in (Complexity, Chains)}, "task.sampler.of")


class Mixture(
    Sampler,
    name="mixture",
    summary="complexity (or chains) for a share of the pairs, uniform for the rest",
    pairs=True,
):
    """Each pair from a sampler of hard ones with probability `share`, else uniform."""

    share: float = Field(0.5, ge=0, le=1, description="how many pairs are hard, 0 to 1")
    of: Annotated[SerializeAsAny[Sampler], BeforeValidator(_hard)] = Complexity()

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        chosen = chances((count, 1, 1), generator) < self.share
        hard = self.of.draw(count, digits, generator)
        return torch.where(chosen, hard, Uniform().draw(count, digits, generator))


def _inner(value: Any) -> Sampler:
    return choose(value, {k: v for k, v in SAMPLERS.items() if k != "shifted"}, "task.sampler.of")


class Shifted(
    Sampler,
    name="shifted",
    summary="another sampler's numbers times one power of ten that still fits the field",
):
    """Numbers of another sampler with the same number of zeros put on the right of all operands of a sample.

    The number of zeros is uniform on what still fits the field: 0 to width - digits.
    """

    of: Annotated[SerializeAsAny[Sampler], BeforeValidator(_inner)] = Uniform()

    @override
    def places(self, digits: int, width: int) -> int:
        return max(digits, width)

    @override
    def draw(
        self, count: int, digits: int, generator: Generator, *, operands: int = 2, width: int = 0
    ) -> Int[Tensor, "batch operand place"]:
        numbers = self.of.draw(count, digits, generator, operands=operands, width=width)
        places = self.places(digits, width)
        by = integers(0, places - digits + 1, (count, 1, 1), generator)
        to = by + torch.arange(digits, device=by.device)
        shifted = numbers.new_zeros(*numbers.shape[:2], places)
        return shifted.scatter_(-1, to.expand(numbers.shape), numbers)


SAMPLERS: dict[str, type[Sampler]] = {
    kind.name: kind for kind in (Uniform, Complexity, Chains, Mixture, Shifted)
}


SamplerOption = Annotated[
    SerializeAsAny[Sampler], BeforeValidator(lambda v: choose(v, SAMPLERS, "task.sampler"))
]
"""A sampler by name, or a table with its options."""


def draws_pairs(sampler: Sampler) -> bool:
    """Whether a sampler, or the one that it shifts, draws pairs."""
    return sampler.of.pairs if isinstance(sampler, Shifted) else sampler.pairs
