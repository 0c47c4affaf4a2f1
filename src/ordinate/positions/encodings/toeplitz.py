"""Matrices whose entries depend on the difference of row and column only, from one value a difference."""

import torch
from jaxtyping import Float
from torch import Tensor


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
