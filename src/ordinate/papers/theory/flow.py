"""The gradient flow of inner products under all shifts of the window, and its closed forms in special cases.

Let v = th and let the products A_j = p_k . p_{k+j} depend on the difference alone, as they then do for all time. The
loss summed over windows is L = sum_ir c_{i-r} (M_ir - T_ir)^2 with c_j = n1 - |j| the number of places of a window
where difference j occurs (`differences_seen`). dP/dt = -dL/dP - e P with weight decay e gives dM/dt = dP/dt P^T +
P (dP/dt)^T, and since circulant matrices commute

    dA_j/dt = -8 sum_r c_r (A_r - T_r) A_{j-r} - 2 e A_j,   all indices on the ring, any number of neighbours in T.

A convolution: in frequencies, dÂ/dt = -(8 Ĝ + 2 e) Â with G = c (A - T), so a frequency that is 0 stays 0 and none
becomes negative. Differences with c_j = 0 are in no loss, yet move with the others.

Closed forms (Proposition 5.1 of arXiv 2406.01895, for v = th): absolute, first window: positions outside the window
are in no loss; weight decay takes them to 0, and the loss there is that of the answer 0 (`loss_of_nothing`). Absolute,
all shifts, n1 = 1 and b = 0: `solvable_products`. Relative: every difference on its own (`relative_weights`).
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Generator, Tensor

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.ring import Ring
from ordinate.papers.theory.ring import circulant, differences_seen, wanted


def flow_slope(
    products: Float[ndarray, "*time place"], ring: Ring, *, decay: float = 0.0
) -> Float[ndarray, "*time place"]:
    """dA/dt of the flow.

    >>> ring = Ring(places=3, filled=1, own=2.0, neighbours=(0.0,))
    >>> flow_slope(np.array([1.0, 0.1, 0.1]), ring).round(12).tolist()  # 8 (a - A_0) A_j
    [8.0, 0.8, 0.8]
    """
    return _slope(products, differences_seen(ring).numpy(), wanted(ring).numpy(), decay)


def integrate_flow(
    start: Float[ndarray, " place"],
    ring: Ring,
    times: Sequence[float] | Float[ndarray, " time"],
    *,
    decay: float = 0.0,
    tolerance: float = 1e-9,
) -> Float[ndarray, "time place"]:
    """A_j at times that rise from 0 or later, starting from A_j(0), to a relative tolerance."""
    try:
        from scipy.integrate import solve_ivp
    except ImportError:
        raise OrdinateError("flows need scipy: write pip install 'ordinate[theory]'") from None
    moments = np.asarray(times, dtype=np.float64)
    seen, target = differences_seen(ring).numpy(), wanted(ring).numpy()
    place = np.arange(ring.places)
    shifted = (place[:, None] - place) % ring.places

    def jacobian(_: float, products: ndarray) -> ndarray:
        gap = seen * (products - target)
        slopes: ndarray = -8 * (products[shifted] * seen + gap[shifted]) - 2 * decay * np.eye(ring.places)
        return slopes

    solved = solve_ivp(
        lambda _, products: _slope(products, seen, target, decay),
        (0.0, float(moments[-1])),
        start,
        method="LSODA",
        t_eval=moments,
        jac=jacobian,
        rtol=tolerance,
        atol=tolerance,
    )
    if not solved.success:
        raise OrdinateError(f"the flow could not be integrated: {solved.message}")
    found: ndarray = solved.y.T
    return found


def invariant_products(places: int, dimension: int, generator: Generator) -> Float[ndarray, " place"]:
    """Products A_j(0) as of random positions in `dimension` dimensions: about 1 at j = 0, of size 1 / sqrt(d) else.

    Their frequencies are drawn from a Gamma distribution with mean 1 and variance n / d, so that they are the
    products of some positions.

    >>> invariant_products(5, 50, torch.Generator().manual_seed(0)).shape
    (5,)
    """
    half = places // 2 + 1
    shape = dimension / places
    seed = int(torch.randint(2**62, (1,), generator=generator))
    powers = np.random.default_rng(seed).gamma(shape, 1 / shape, size=half)
    products: ndarray = np.fft.irfft(powers, n=places)
    return products


def positions_of(products: Float[Tensor, " place"]) -> Float[Tensor, "place place"]:
    """Positions p_k with p_i . p_r = A_{i-r}: the symmetric square root of the circulant of A.

    >>> p = positions_of(torch.tensor([1.0, 0.2, 0.2], dtype=torch.float64))
    >>> (p @ p.T).round(decimals=6).tolist()
    [[1.0, 0.2, 0.2], [0.2, 1.0, 0.2], [0.2, 0.2, 1.0]]
    """
    powers = torch.fft.fft(products).real
    if powers.min() < -1e-9 * powers.abs().max():
        raise OrdinateError("these are no inner products: write products whose frequencies are 0 or more")
    return circulant(torch.fft.ifft(powers.clamp(min=0).sqrt()).real)


def _slope(products: ndarray, seen: ndarray, target: ndarray, decay: float) -> ndarray:
    convolved = np.fft.ifft(np.fft.fft(seen * (products - target)) * np.fft.fft(products)).real
    slope: ndarray = -8 * convolved - 2 * decay * products
    return slope


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
