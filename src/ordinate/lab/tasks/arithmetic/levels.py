"""Levels of carries: what makes a product hard."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.tasks.arithmetic.digits import resize, scale_places

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
        above[2:-1] += _longer(multiplier, places) / 9
    return above[:-1] - above[1:]


def _longer(multiplier: int, places: int) -> Float[Tensor, " m"]:
    """P(some t > m), m = 0 to places - 2."""
    generate, propagate, every = (torch.zeros(9, 9, dtype=torch.float64) for _ in range(3))
    for digit in range(10):
        carry, rest = divmod(multiplier * digit, 10)
        for before in range(9):
            every[before, carry] += 0.1
            generate[before, carry] += 0.1 * (rest + before > 9)
            propagate[before, carry] += 0.1 * (rest + before == 9)
    reach = min(places - 1, FARTHEST)
    starts = [generate]
    for _ in range(reach - 1):
        starts.append(starts[-1] @ propagate)
    start = torch.stack(starts)
    chain = torch.zeros(places + 1, 9, dtype=torch.float64)
    chain[0, 0] = 1
    longer = torch.zeros(places + 1, max(reach, 1), 9, dtype=torch.float64)
    for i in range(places):
        chain[i + 1] = chain[i] @ every
        longer[i + 1] = longer[i] @ every
        m = torch.arange(min(i + 1, reach))
        alive = chain[i - m] - longer[i - m, m]
        longer[i + 1, : len(m)] += torch.einsum("mc,mcd->md", alive, start[: len(m)])
    found = torch.zeros(max(places - 1, 0), dtype=torch.float64)
    found[:reach] = longer[places].sum(-1)[:reach]
    return found
