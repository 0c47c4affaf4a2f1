"""Tensors in documents."""

from typing import Any

from jaxtyping import Float
from torch import Tensor

DECIMALS = 5


def rounded(values: Float[Tensor, "*shape"]) -> Any:
    """Nested lists of numbers with a few decimals.

    >>> import torch
    >>> rounded(torch.tensor([[1 / 3]]))
    [[0.33333]]
    """
    return values.double().mul(10**DECIMALS).round().div(10**DECIMALS).tolist()
