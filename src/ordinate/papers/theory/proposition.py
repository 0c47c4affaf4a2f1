"""Closed forms of Proposition 5.1 of arXiv 2406.01895, for v = th.

Absolute, first window: positions outside the window are in no loss; weight decay takes them to 0, and the loss
there is that of the answer 0 (`loss_of_nothing`). Absolute, all shifts, n1 = 1 and b = 0: `solvable_products`.
Relative: every difference on its own (`relative_weights`).
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ordinate.lab.tasks.ring import Ring
from ordinate.papers.theory.supervision import differences_seen, wanted


def loss_of_nothing(ring: Ring) -> float:
    """a^2 + 2 sum_k b_k^2: the expected loss of a place whose answer is always 0.

    >>> loss_of_nothing(Ring(own=2.0, neighbours=(0.5,)))
    4.5
    """
    return float((wanted(ring) ** 2).sum())


def solvable_products(
    start: Float[ndarray, " place"], own: float, times: Sequence[float] | Float[ndarray, " time"]
) -> Float[ndarray, "time place"]:
    """The flow of all shifts with n1 = 1 and no neighbours: dA_j/dt = 8 (a - A_0) A_j, solved.

        A_0(t) = a / (1 + (a / A_0(0) - 1) exp(-8 a t)),    A_j(t) / A_j(0) = A_0(t) / A_0(0).

    With a > A_0(0), products of different places never shrink.

    >>> solvable_products(np.array([1.0, 0.1]), 2.0, [0.0, 10.0]).round(6).tolist()
    [[1.0, 0.1], [2.0, 0.2]]
    """
    moments = np.asarray(times, dtype=np.float64)
    itself = own / (1 + (own / start[0] - 1) * np.exp(-8 * own * moments))
    products: ndarray = itself[:, None] / start[0] * start
    return products


def solvable_loss(places: int, dimension: int, own: float) -> float:
    """a^2 (n - 1) / d: the expected test loss of a place in the solvable case, from isotropic random positions.

    Descent changes the norm of every p_k to sqrt(a) and no direction; the squared cosine of two random
    directions in d dimensions is 1 / d on average.

    >>> solvable_loss(51, 200, 2.0)
    1.0
    """
    return own**2 * (places - 1) / dimension


def relative_weights(
    start: Float[ndarray, "*seed place"], ring: Ring, time: float, *, decay: float = 0.0
) -> Float[ndarray, "*seed place"]:
    """Relative weights a_k after a time of gradient flow: da_k/dt = -2 c_k (a_k - T_k) - e a_k, solved.

    Differences that a window never holds (c_k = 0) move by weight decay alone.

    >>> ring = Ring(places=5, filled=2, own=2.0, neighbours=(0.5,))
    >>> relative_weights(np.full(5, 0.1), ring, 100.0).round(6).tolist()
    [2.0, 0.5, 0.1, 0.1, 0.5]
    """
    pull = 2 * differences_seen(ring).numpy()
    rate = pull + decay
    goal = np.divide(pull * wanted(ring).numpy(), rate, out=np.zeros_like(rate), where=rate > 0)
    weights: ndarray = goal + (start - goal) * np.exp(-rate * time)
    return weights
