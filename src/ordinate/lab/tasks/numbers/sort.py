"""Sorting."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.numbers.base import Numbers

PLAIN = (torch.float32, torch.float64)
"""Types that NumPy has as well: it sorts short rows in half the time."""


def ascending(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = the k-th smallest of x_1, ..., x_n.

    >>> ascending(torch.tensor([1.0, -2.0, 3.0, -2.0])).tolist()
    [-2.0, -2.0, 1.0, 3.0]
    """
    if numbers.device.type == "cpu" and numbers.dtype in PLAIN and not numbers.requires_grad:
        return torch.from_numpy(np.sort(numbers.numpy(), axis=-1))
    return numbers.sort(-1).values


class Sort(Numbers, name="sort", summary="the numbers in ascending order"):
    """The numbers in ascending order: 1 -2 3 gives -2 1 3. Not cumulative: every output needs every input."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        return ascending(inputs.squeeze(-1)).unsqueeze(-1)
