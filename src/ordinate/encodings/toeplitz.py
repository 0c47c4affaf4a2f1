"""Matrices whose entries depend on the difference of row and column only, from one value a difference."""

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import Encoding


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


def by_lag(values: Float[Tensor, "head lag"]) -> Float[Tensor, "head query key"]:
    """M[i, j] = values of i - j, which are given in the order 0 .. n - 1, and -inf where the key is ahead.

    >>> by_lag(torch.tensor([[0.0, 1.0]]))
    tensor([[[0., -inf],
             [1., 0.]]])
    """
    ahead = values.new_full((len(values), values.shape[-1] - 1), float("-inf"))
    return by_difference(torch.cat([ahead, values], dim=-1))


class LagBias(Encoding):
    """A bias that depends on the distance alone, alike on both sides; causal attention reads `lags`."""

    @abstractmethod
    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        """The bias at the distances 0 .. n - 1."""

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        """b[i, j] by |i - j|."""
        return by_distance(self.lags(coordinates, layer))
