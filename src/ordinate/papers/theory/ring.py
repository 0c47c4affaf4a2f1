"""The ring: what training on a part of it asks for, and three linear models of attention by position alone.

On a ring, everything depends on differences of places: a vector c of n numbers stands for the circulant matrix
C[i, r] = c[(i - r) mod n]. The models, and the data each is trained on:

    absolute    yhat_i = sum_r (p_i . p_r) <v, x_r>
    shifted     the same model, trained on all shifts of the filled window
    relative    yhat_i = sum_r a_{i-r} <v, x_r>, differences on the ring

All are yhat_i = sum_r M_ir <v, x_r> with an *effective matrix* M; a model is a way to make M out of parameters.
Everything works on several seeds at once.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import torch
from jaxtyping import Float, Int
from torch import Tensor
from typing_extensions import override

from ordinate.lab.seeds import generator
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


Positions: TypeAlias = Float[Tensor, "seed place *vector"]
Pairs: TypeAlias = Float[Tensor, "seed place place"]
Directions: TypeAlias = Float[Tensor, "seed feature"]


class Parameters(NamedTuple):
    """Positions and the direction v of every seed."""

    positions: Positions
    direction: Directions


@dataclass(frozen=True)
class LinearModel(ABC):
    """How parameters make the effective matrix, and which windows they are trained on."""

    name: str

    @abstractmethod
    def windows(self, ring: Ring) -> Int[Tensor, "window filled"]:
        """The windows of places that are filled in training."""

    @abstractmethod
    def matrix(self, positions: Positions) -> Pairs:
        """The effective matrix M."""

    @abstractmethod
    def pull(self, positions: Positions, slope: Pairs) -> Positions:
        """The gradient of a loss with respect to the positions, given the one with respect to M."""

    @abstractmethod
    def draw(self, ring: Ring, random: torch.Generator) -> Float[Tensor, " place *vector"]:
        """Positions of one seed before training."""

    def start(self, ring: Ring, seeds: Sequence[int]) -> Parameters:
        """Parameters of several seeds before training: random positions, and v a random unit vector."""
        streams = [generator(seed, "ring", self.name) for seed in seeds]
        positions = torch.stack([self.draw(ring, random) for random in streams])
        drawn = [torch.randn(ring.dimension, generator=random, dtype=torch.float64) for random in streams]
        return Parameters(positions, torch.nn.functional.normalize(torch.stack(drawn), dim=-1))


@dataclass(frozen=True)
class Absolute(LinearModel):
    """M = P P^T: one vector a place, trained on the first window or on all its shifts.

    >>> model = Absolute("APE")
    >>> model.matrix(torch.tensor([[[1.0, 0.0], [1.0, 1.0]]])).tolist()
    [[[1.0, 1.0], [1.0, 2.0]]]
    """

    shifts: bool = False

    @override
    def windows(self, ring: Ring) -> Int[Tensor, "window filled"]:
        return all_windows(ring) if self.shifts else first_window(ring)

    @override
    def matrix(self, positions: Positions) -> Pairs:
        return positions @ positions.mT

    @override
    def pull(self, positions: Positions, slope: Pairs) -> Positions:
        """dL/dP = (S + S^T) P for S = dL/dM."""
        return (slope + slope.mT) @ positions

    @override
    def draw(self, ring: Ring, random: torch.Generator) -> Float[Tensor, " place *vector"]:
        """Gaussian vectors of norm about 1, so that inner products are about 1 / sqrt(d)."""
        shape = (ring.places, ring.dimension)
        return torch.randn(shape, generator=random, dtype=torch.float64) / math.sqrt(ring.dimension)


@dataclass(frozen=True)
class Relative(LinearModel):
    """M[i, r] = a_{i-r}: one number a difference."""

    @override
    def windows(self, ring: Ring) -> Int[Tensor, "window filled"]:
        return first_window(ring)

    @override
    def matrix(self, positions: Positions) -> Pairs:
        return circulant(positions)

    @override
    def pull(self, positions: Positions, slope: Pairs) -> Positions:
        """Sum over the pairs of each difference."""
        return sum_by_difference(slope)

    @override
    def draw(self, ring: Ring, random: torch.Generator) -> Float[Tensor, " place *vector"]:
        """Numbers of size 1 / sqrt(d): inner products of Gaussian key vectors with a unit query."""
        return torch.randn(ring.places, generator=random, dtype=torch.float64) / math.sqrt(ring.dimension)


APE = Absolute("APE")
SHIFTED = Absolute("APE + shifts", shifts=True)
RPE = Relative("RPE")
MODELS: tuple[LinearModel, ...] = (APE, SHIFTED, RPE)


def same_products(positions: Float[Tensor, "seed place vector"]) -> Float[Tensor, "seed place smaller"]:
    """Positions with the same inner products in as few dimensions as places: P = L Q with Q orthonormal.

    Gradients of a loss in P P^T are K P for some K, so the products of descent are those of L as well.

    >>> same_products(torch.randn(2, 5, 40)).shape
    torch.Size([2, 5, 5])
    """
    products: Tensor = torch.linalg.qr(positions.mT, mode="r").R.mT
    return products
