"""Cumulative sum."""

from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.numbers.base import Numbers


def cumulative_sum(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = x_1 + ... + x_k.

    >>> import torch
    >>> cumulative_sum(torch.tensor([1.0, -2.0, 3.0])).tolist()
    [1.0, -1.0, 2.0]
    """
    return numbers.cumsum(-1)


class Sum(Numbers, name="sum", summary="sum of the numbers so far"):
    """The sum of the numbers so far: 1 -2 3 gives 1 -1 2."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        return cumulative_sum(inputs.squeeze(-1)).unsqueeze(-1)
