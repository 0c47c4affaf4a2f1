"""Cumulative minimum."""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.numbers.base import Numbers


def cumulative_min(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = min(x_1, ..., x_k).

    >>> import torch
    >>> cumulative_min(torch.tensor([1.0, -2.0, 3.0])).tolist()
    [1.0, -2.0, -2.0]
    """
    return numbers.cummin(-1).values


class Min(Numbers):
    """The smallest number so far: 1 -2 3 gives 1 -2 -2."""

    name: ClassVar[str] = "min"
    summary: ClassVar[str] = "smallest of the numbers so far"

    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        """Return the cumulative minimum of each sequence."""
        return cumulative_min(inputs.squeeze(-1)).unsqueeze(-1)
