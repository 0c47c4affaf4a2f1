"""What several encodings share: a cache, positive parameters, matrices of one value a difference."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import watched

V = TypeVar("V")

LINEAR = 40.0
"""From here on e^-free is nothing beside free in float64, and the logarithm is free itself."""


class Cache(Generic[V]):
    """A few results by key, normally the coordinates, device and precision; the oldest is forgotten.

    >>> squares = Cache[int](most=2)
    >>> [squares(n, lambda: n * n) for n in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, most: int = 32) -> None:
        self.most = most
        self._kept: dict[Hashable, V] = {}

    def __call__(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return what is kept under the key, made now if it is not there, as tensors that can be trained with."""
        if key not in self._kept:
            with torch.inference_mode(False):
                made = make()
            if watched():
                return made
            if len(self._kept) >= self.most:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = made
        return self._kept[key]

    def __len__(self) -> int:
        return len(self._kept)


def positive(free: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """log(1 + e^free) > 0, which keeps a parameter in range."""
    return F.softplus(free, threshold=LINEAR)


def free(positive: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The inverse.

    >>> positive(free(torch.tensor([0.01, 1.0, 30.0])))
    tensor([1.0000e-02, 1.0000e+00, 3.0000e+01])
    """
    return positive + torch.log(-torch.expm1(-positive))


def by_difference(values: Float[Tensor, "head difference"]) -> Float[Tensor, "head query key"]:
    """M[i, j] = values of i - j, which are given in the order 1 - n .. n - 1.

    >>> by_difference(torch.tensor([[-1.0, 0.0, 1.0]]))
    tensor([[[ 0., -1.],
             [ 1.,  0.]]])
    """
    tokens = (values.shape[-1] + 1) // 2
    return values.unfold(-1, tokens, 1).flip(-1)


def by_distance(values: Float[Tensor, "head distance"]) -> Float[Tensor, "head query key"]:
    """M[i, j] = values of |i - j|, which are given in the order 0 .. n - 1.

    >>> by_distance(torch.tensor([[0.0, 1.0]]))
    tensor([[[0., 1.],
             [1., 0.]]])
    """
    return by_difference(torch.cat([values[:, 1:].flip(-1), values], dim=-1))
