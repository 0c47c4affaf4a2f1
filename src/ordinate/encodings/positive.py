"""Positive parameters: kept in range by softplus of a free one."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

BEYOND = 40.0
"""From here on e^-free is nothing beside free in float64, and the logarithm is free itself."""


def positive(free: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """log(1 + e^free) > 0."""
    return F.softplus(free, threshold=BEYOND)


def free(positive: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """The inverse.

    >>> positive(free(torch.tensor([0.01, 1.0, 30.0])))
    tensor([1.0000e-02, 1.0000e+00, 3.0000e+01])
    """
    return positive + torch.log(-torch.expm1(-positive))
