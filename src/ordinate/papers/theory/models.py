"""Three linear models of attention by position alone, and the data each is trained on.

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
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.lab.seeds import generator
from ordinate.lab.tasks.ring import Ring
from ordinate.papers.theory.supervision import all_windows, circulant, first_window, sum_by_difference


class Parameters(NamedTuple):
    """Positions and the direction v of every seed."""

    positions: Float[Tensor, "seed place *vector"]
    direction: Float[Tensor, "seed feature"]


@dataclass(frozen=True)
class LinearModel(ABC):
    """How parameters make the effective matrix, and which windows they are trained on."""

    name: str

    @abstractmethod
    def windows(self, ring: Ring) -> Int[Tensor, "window filled"]:
        """The windows of places that are filled in training."""

    @abstractmethod
    def matrix(self, positions: Float[Tensor, "seed place *vector"]) -> Float[Tensor, "seed place place"]:
        """The effective matrix M."""

    @abstractmethod
    def pull(
        self,
        positions: Float[Tensor, "seed place *vector"],
        slope: Float[Tensor, "seed place place"],
    ) -> Float[Tensor, "seed place *vector"]:
        """The gradient of a loss with respect to the positions, given the one with respect to M."""

    @abstractmethod
    def draw(self, ring: Ring, random: torch.Generator) -> Float[Tensor, "place *vector"]:
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

    def windows(self, ring: Ring) -> Int[Tensor, "window filled"]:
        """The first window, or all."""
        return all_windows(ring) if self.shifts else first_window(ring)

    def matrix(self, positions: Float[Tensor, "seed place *vector"]) -> Float[Tensor, "seed place place"]:
        """All inner products."""
        return positions @ positions.mT

    def pull(
        self,
        positions: Float[Tensor, "seed place *vector"],
        slope: Float[Tensor, "seed place place"],
    ) -> Float[Tensor, "seed place *vector"]:
        """dL/dP = (S + S^T) P for S = dL/dM."""
        return (slope + slope.mT) @ positions

    def draw(self, ring: Ring, random: torch.Generator) -> Float[Tensor, "place *vector"]:
        """Gaussian vectors of norm about 1, so that inner products are about 1 / sqrt(d)."""
        shape = (ring.places, ring.dimension)
        return torch.randn(shape, generator=random, dtype=torch.float64) / math.sqrt(ring.dimension)


@dataclass(frozen=True)
class Relative(LinearModel):
    """M[i, r] = a_{i-r}: one number a difference."""

    def windows(self, ring: Ring) -> Int[Tensor, "window filled"]:
        """The first window."""
        return first_window(ring)

    def matrix(self, positions: Float[Tensor, "seed place *vector"]) -> Float[Tensor, "seed place place"]:
        """The circulant of a."""
        return circulant(positions)

    def pull(
        self,
        positions: Float[Tensor, "seed place *vector"],
        slope: Float[Tensor, "seed place place"],
    ) -> Float[Tensor, "seed place *vector"]:
        """Sum over the pairs of each difference."""
        return sum_by_difference(slope)

    def draw(self, ring: Ring, random: torch.Generator) -> Float[Tensor, "place *vector"]:
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
