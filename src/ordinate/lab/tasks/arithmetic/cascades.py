"""Cascades of carries: what makes a sum hard.

A place whose digits sum to 10 or more generates a carry, one with 9 propagates a carry that arrives, one with
less kills it. A *cascade* is a generate and the propagates right after it: its carry travels that far, and the
digits at its far end depend on all its places. Its length counts the generate: a carry that stops at once is a
cascade of 1. A mere row of generates is no cascade: each place there knows its carry from the one before it.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.tasks.arithmetic.runs import WEIGHTS


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
    k = torch.arange(places)
    start = generate * propagate ** k.double()
    longer = torch.zeros(places + 1, places, dtype=torch.float64)
    for i in range(places):
        reach = k[: i + 1]
        longer[i + 1] = longer[i]
        longer[i + 1, : i + 1] += start[: i + 1] * (1 - longer[i - reach, reach])
    above = torch.cat(
        [torch.ones(1, dtype=torch.float64), longer[places], torch.zeros(1, dtype=torch.float64)]
    )
    return above[:-1] - above[1:]
