"""Cumulative minimum."""

from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.numbers.base import Numbers


def cumulative_min(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = min(x_1, ..., x_k).

    >>> import torch
    >>> cumulative_min(torch.tensor([1.0, -2.0, 3.0])).tolist()
    [1.0, -2.0, -2.0]
    """
    return numbers.cummin(-1).values


class Min(Numbers, name="min", summary="smallest of the numbers so far"):
    """The smallest number so far: 1 -2 3 gives 1 -2 -2."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        return cumulative_min(inputs.squeeze(-1)).unsqueeze(-1)
