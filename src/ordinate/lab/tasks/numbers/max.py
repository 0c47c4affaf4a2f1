"""Cumulative maximum."""

from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.numbers.base import Numbers


def cumulative_max(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = max(x_1, ..., x_k).

    >>> import torch
    >>> cumulative_max(torch.tensor([1.0, -2.0, 3.0])).tolist()
    [1.0, 1.0, 3.0]
    """
    return numbers.cummax(-1).values


class Max(Numbers, name="max", summary="largest of the numbers so far"):
    """The largest number so far: 1 -2 3 gives 1 1 3."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        return cumulative_max(inputs.squeeze(-1)).unsqueeze(-1)
