"""What training on a part of the ring asks for, and which pairs of places it ever sees.

On a ring, everything depends on differences of places: a vector c of n numbers stands for the circulant matrix
C[i, r] = c[(i - r) mod n].
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.tasks.ring import Ring


def circulant(by_difference: Float[Tensor, "*seed place"]) -> Float[Tensor, "*seed place place"]:
    """C[i, r] = c[(i - r) mod n].

    >>> circulant(torch.tensor([1.0, 2.0, 3.0])).tolist()
    [[1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [3.0, 2.0, 1.0]]
    """
    place = torch.arange(by_difference.shape[-1], device=by_difference.device)
    return by_difference[..., (place[:, None] - place) % len(place)]


def sum_by_difference(matrix: Float[Tensor, "*seed place place"]) -> Float[Tensor, "*seed place"]:
    """The sums over each difference (i - r) mod n; the adjoint of `circulant`.

    >>> sum_by_difference(torch.tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [5.0, 5.0]
    """
    n = matrix.shape[-1]
    place = torch.arange(n, device=matrix.device)
    rows = (place[:, None] + place) % n  # difference d and key r meet at row d + r
    return matrix[..., rows, place].sum(-1)


def wanted(ring: Ring) -> Float[Tensor, " place"]:
    """What place i takes from place i - j: a at 0, b_k at k and -k, else nothing.

    >>> wanted(Ring(places=5, filled=2, own=2.0, neighbours=(0.5,))).tolist()
    [2.0, 0.5, 0.0, 0.0, 0.5]
    """
    weights = torch.zeros(ring.places, dtype=torch.float64)
    weights[0] = ring.own
    for k, weight in enumerate(ring.neighbours, start=1):
        weights[k] = weights[-k] = weight
    return weights


def first_window(ring: Ring) -> Int[Tensor, "1 filled"]:
    """The places that training fills.

    >>> first_window(Ring(places=5, filled=3)).tolist()
    [[0, 1, 2]]
    """
    return torch.arange(ring.filled)[None]


def all_windows(ring: Ring) -> Int[Tensor, "window filled"]:
    """The filled places and all their shifts around the ring.

    >>> all_windows(Ring(places=3, filled=2, neighbours=(0.5,))).tolist()
    [[0, 1], [1, 2], [2, 0]]
    """
    return (torch.arange(ring.places)[:, None] + first_window(ring)) % ring.places


def pairs_seen(windows: Int[Tensor, "window filled"], places: int) -> Float[Tensor, "place place"]:
    """In how many windows both places of a pair lie.

    >>> pairs_seen(torch.tensor([[0, 1], [1, 2]]), 3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]]
    """
    inside = torch.zeros(len(windows), places, dtype=torch.float64)
    inside.scatter_(1, windows, 1.0)
    return inside.T @ inside


def differences_seen(ring: Ring) -> Float[Tensor, " place"]:
    """c_j, in how many places of a window a difference j occurs: n1 - |j|, on the ring.

    >>> differences_seen(Ring(places=7, filled=3)).tolist()
    [3.0, 2.0, 1.0, 0.0, 0.0, 1.0, 2.0]
    """
    return pairs_seen(all_windows(ring), ring.places)[:, 0]


def least_response(ring: Ring) -> float:
    """min over w of a + 2 sum_k b_k cos(k w), over the frequencies w of this ring.

    Inner products p_i . p_r form a matrix without negative eigenvalues; a shift-invariant target has this as its
    least one. Where it is negative, no absolute positions reach zero loss under all shifts.

    >>> round(least_response(Ring(places=51, filled=10, own=2.0, neighbours=(0.5,))), 3)
    1.002
    """
    return float(torch.fft.fft(wanted(ring)).real.min())


def expressible(ring: Ring) -> bool:
    """Whether inner products of positions can be what the task wants at every difference.

    >>> expressible(Ring(own=1.0, neighbours=(0.5,))), expressible(Ring(own=1.0, neighbours=(0.8,)))
    (True, False)
    """
    return least_response(ring) >= -1e-12 * max(1.0, abs(ring.own))
