"""Carries: what makes a sum or a product hard, in one sample, in a batch, and as a distribution.

In a sum, a place whose digits sum to 10 or more generates a carry, one with 9 propagates a carry that arrives, one with
less kills it. A *cascade* is a generate and the propagates right after it: its carry travels that far, and the digits
at its far end depend on all its places. Its length counts the generate: a carry that stops at once is a cascade of 1. A
mere row of generates is no cascade: each place there knows its carry from the one before it.

In a product, carries are handed on in *levels*: rounds in which all places hand on at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.tasks.arithmetic.digits import resize, scale_places
from ordinate.lab.tasks.arithmetic.samplers import WEIGHTS


@dataclass(frozen=True)
class CarryChain:
    """The amount at every place before carries, and the carry that arrives there; least significant first.

    With a_p the amount at place p (a sum, a difference, a product of digits), the place hands on

        c_{p+1} = floor((a_p + c_p) / 10),   c_0 = 0,

    a borrow being a carry of -1. A place *propagates* where it hands on something else than it would without the carry
    that arrives. A *cascade* is a place that hands something on by itself, and the places right behind it that
    propagate.

    >>> chain = CarryChain.of([10, 9, 9, 3])
    >>> chain.into, chain.digits, chain.cascades
    ((0, 1, 1, 1), (0, 0, 0, 4), ((0, 2),))
    """

    amounts: tuple[int, ...]
    into: tuple[int, ...]

    @classmethod
    def of(cls, amounts: Sequence[int]) -> "CarryChain":
        """Work out the carries."""
        into = [0]
        for amount in amounts[:-1]:
            into.append((amount + into[-1]) // 10)
        return cls(tuple(amounts), tuple(into[: len(amounts)]))

    @property
    def out(self) -> tuple[int, ...]:
        """The carry that every place hands on."""
        return tuple((amount + carry) // 10 for amount, carry in zip(self.amounts, self.into, strict=True))

    @property
    def digits(self) -> tuple[int, ...]:
        """What is left at every place."""
        return tuple((amount + carry) % 10 for amount, carry in zip(self.amounts, self.into, strict=True))

    @property
    def propagates(self) -> tuple[bool, ...]:
        """Where the carry that arrives decides what is handed on."""
        return tuple(out != amount // 10 for amount, out in zip(self.amounts, self.out, strict=True))

    @property
    def cascades(self) -> tuple[tuple[int, int], ...]:
        """First and last place of every cascade, least significant first."""
        found: list[tuple[int, int]] = []
        for place, (out, propagates) in enumerate(zip(self.out, self.propagates, strict=True)):
            if propagates and found and found[-1][1] == place - 1:
                found[-1] = (found[-1][0], place)
            elif out:
                found.append((place, place))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        keys = ("amount", "carry_in", "carry_out", "digit", "propagates")
        rows = zip(self.amounts, self.into, self.out, self.digits, self.propagates, strict=True)
        places = [{"place": place, **dict(zip(keys, row, strict=True))} for place, row in enumerate(rows)]
        return {"places": places, "cascades": [list(cascade) for cascade in self.cascades]}


def longest_cascade(sums: Int[Tensor, "batch place"]) -> Int[Tensor, " batch"]:
    """The longest cascade of digit sums, least significant first; 0 where nothing carries.

    >>> longest_cascade(torch.tensor([[10, 9, 9, 3], [9, 9, 8, 0], [12, 13, 9, 14]])).tolist()
    [3, 0, 2]
    """
    place = torch.arange(sums.shape[-1], device=sums.device)
    start = torch.where(sums != 9, place, 0).cummax(-1).values
    return torch.where(sums.gather(-1, start) > 9, place - start + 1, 0).amax(-1)


def longest_carries(sums: Int[Tensor, "batch place"]) -> Int[Tensor, " batch"]:
    """The longest row of places that generate a carry by themselves, whatever propagates.

    >>> longest_carries(torch.tensor([[10, 9, 9, 3], [9, 9, 8, 0], [12, 13, 9, 14]])).tolist()
    [1, 0, 2]
    """
    place = torch.arange(sums.shape[-1], device=sums.device)
    before = torch.where(sums <= 9, place, -1).cummax(-1).values
    return (place - before).amax(-1)


def cascade_distribution(places: int) -> Float[Tensor, " length"]:
    """P(longest cascade = k), k = 0 to `places`, of the sum of two uniform numbers of this many places. Exact.

    Let D_k(i) be the probability that some cascade among the first i places is longer than k. It first becomes
    so at place i + 1 where place i - k + 1 generates, the k places after it propagate, and nothing was longer
    before place i - k + 1:

        D_k(i + 1) = D_k(i) + g p^k (1 - D_k(i - k)),   D_k(0) = 0,   g = 0.45, p = 0.1.

    No difference of large numbers occurs, so even tiny probabilities are right to many digits.

    >>> print(*(round(p, 6) for p in cascade_distribution(5).tolist()))
    0.050328 0.775747 0.160425 0.0126 0.000855 4.5e-05
    """
    _, propagate, generate = WEIGHTS
    starts = generate * propagate ** torch.arange(places).double()
    above = torch.zeros(places + 2, dtype=torch.float64)
    above[0] = 1
    above[1:-1] = _longer(starts[:, None, None], torch.ones(1, 1, dtype=torch.float64), places)
    return above[:-1] - above[1:]


FARTHEST = 100
"""Carries that travel farther have probabilities around 10^-100."""


def carry_levels(
    multiplier: Int[Tensor, "batch short"], multiplicand: Int[Tensor, "batch long"]
) -> Int[Tensor, " batch"]:
    """In how many rounds carries are handed on until every place holds one digit.

    m_j = x y_j at first; a round hands every digit of m_j above the lowest to its own place, all j at once:
    m_j <- (m_j mod 10) + sum_{k=1..l1} ((m_{j-k} div 10^k) mod 10), for a multiplier of l1 digits.

    >>> carry_levels(torch.tensor([[2], [9], [7]]), torch.tensor([[3, 4], [9, 9], [9, 4]])).tolist()
    [0, 1, 2]
    """
    short = multiplier.shape[-1]
    amounts = resize(scale_places(multiplier, multiplicand), multiplicand.shape[-1] + short)
    levels = amounts.new_zeros(len(amounts))
    while (open_ := (amounts > 9).any(-1)).any():
        levels += open_
        handed = amounts % 10
        for k in range(1, short + 1):
            handed[:, k:] += amounts[:, :-k].div(10**k, rounding_mode="floor") % 10
        amounts = handed
    return levels


def carry_reach(
    multiplier: Int[Tensor, "batch short"], multiplicand: Int[Tensor, "batch long"]
) -> Int[Tensor, " batch"]:
    """How many places down one must look, at the worst place, to know which carry comes into it.

    The carry into place k + 1 is c_{k+1} = (x y_k + c_k) div 10, and 0 <= c_k <= x - 1 for a multiplier x. Who looks r
    places down knows it where both ends of that range, handed on r times, arrive as the same carry. A row of places
    that would hand on a carry counts whether one comes or not.

    >>> carry_reach(torch.tensor([[2], [3], [3]]), torch.tensor([[3, 1, 0], [3, 3, 3], [4, 3, 3]])).tolist()
    [1, 3, 3]
    """
    short = multiplier.shape[-1]
    amounts = resize(scale_places(multiplier, multiplicand), multiplicand.shape[-1] + short)
    least = torch.zeros_like(amounts)
    most = scale_places(multiplier, torch.ones_like(amounts)) - 1
    most[:, 0] = 0
    reach = amounts.new_zeros(len(amounts))
    while (open_ := (least != most).any(-1)).any():
        reach += open_
        for carry in (least, most):
            carry[:, 1:] = (amounts[:, :-1] + carry[:, :-1]).div(10, rounding_mode="floor")
    return reach


def carry_levels_distribution(places: int) -> Float[Tensor, " level"]:
    """P(levels = k), k = 0 to `places`, for a multiplier uniform on 1 to 9 and a uniform multiplicand. Exact.

    With one digit x, a place hands on c = x y div 10 in the first round and at most one carry more, in round
    t + 1 for a t >= 1: with r = x y mod 10 and (c', t') of the place before it,

        t = 1 where r + c' > 9 (generate),   t = t' + 1 where r + c' = 9 and t' exists (propagate),   else none.

    So t runs like a cascade, over a chain of c with transitions G (generate), P (propagate), and T in all. Let
    the vector D_m(i) be the probability, by c, that among the first i places some t was above m, and pi(i) that
    of c alone:

        D_m(i + 1) = D_m(i) T + (pi(i - m) - D_m(i - m)) G P^m,   pi(i + 1) = pi(i) T.

    Levels are above 0 where some c is, and above m + 1 where some t is above m. Beyond 100 levels, with
    probabilities around 10^-100, it gives 0.

    >>> print(*(round(p, 6) for p in carry_levels_distribution(5).tolist()))
    0.116169 0.486416 0.36099 0.034426 0.0019 0.0001
    """
    above = torch.zeros(places + 2, dtype=torch.float64)
    above[0] = 1
    for multiplier in range(1, 10):
        quiet = sum(multiplier * digit < 10 for digit in range(10)) / 10
        above[1] += (1 - quiet**places) / 9
        reach = min(places - 1, FARTHEST)
        above[2 : 2 + reach] += _longer(*_transitions(multiplier, reach), places) / 9
    return above[:-1] - above[1:]


def _transitions(
    multiplier: int, reach: int
) -> tuple[Float[Tensor, "m state state"], Float[Tensor, "state state"]]:
    """G P^m, m = 0 to reach - 1, and T, over the carries of the first round."""
    generate, propagate, every = (torch.zeros(9, 9, dtype=torch.float64) for _ in range(3))
    for digit in range(10):
        carry, rest = divmod(multiplier * digit, 10)
        for before in range(9):
            every[before, carry] += 0.1
            generate[before, carry] += 0.1 * (rest + before > 9)
            propagate[before, carry] += 0.1 * (rest + before == 9)
    starts = torch.zeros(reach, 9, 9, dtype=torch.float64)
    for m in range(reach):
        starts[m] = starts[m - 1] @ propagate if m else generate
    return starts, every


def _longer(
    starts: Float[Tensor, "m state state"], every: Float[Tensor, "state state"], places: int
) -> Float[Tensor, " m"]:
    """P(something among these places lasts longer than m), by the recurrence of D_m, from all G P^m and T."""
    chain = every.new_zeros(places + 1, len(every))
    chain[0, 0] = 1
    longer = every.new_zeros(places + 1, len(starts), len(every))
    for i in range(places):
        chain[i + 1] = chain[i] @ every
        longer[i + 1] = longer[i] @ every
        m = torch.arange(min(i + 1, len(starts)))
        alive = chain[i - m] - longer[i - m, m]
        longer[i + 1, : len(m)] += torch.einsum("mc,mcd->md", alive, starts[: len(m)])
    return longer[places].sum(-1)
