"""Minimum of pairwise sums."""

from functools import lru_cache

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.numbers.base import Numbers
from ordinate.lab.tasks.numbers.sampling import check_length
from ordinate.lab.tasks.task import Batch


def min_pairwise_sum(numbers: Float[Tensor, "*batch two_n"]) -> Float[Tensor, "*batch"]:
    """y = min over 1 <= i <= n of x_i + x_{n+i}, for 2n numbers.

    >>> min_pairwise_sum(torch.tensor([1.0, 2.0, 3.0, 0.0, -4.0, 5.0])).item()
    -2.0
    """
    if numbers.shape[-1] % 2:
        raise OrdinateError(
            f"min-sum pairs two halves: give an even number of tokens, not {numbers.shape[-1]}"
        )
    first, second = numbers.chunk(2, -1)
    return (first + second).amin(-1)


class MinSum(Numbers, name="min-sum", summary="smallest sum of two numbers at equal places of two sequences"):
    """The smallest sum of the two numbers at equal places: 1 2 3 / 0 -4 5 gives -2.

    A length of n means 2n tokens, in the fields `first` and `second`. The one answer is written at token 0,
    the only output that is scored; the others are 0.
    """

    @override
    def coordinates(self, length: int) -> Coordinates:
        return pair_coordinates(length)

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        """Return the smallest pairwise sum at token 0 and zeros elsewhere."""
        answer = torch.zeros_like(inputs)
        answer[:, 0, 0] = min_pairwise_sum(inputs.squeeze(-1))
        return answer

    @override
    def scored(self, coordinates: Coordinates) -> Bool[Tensor, "token out"]:
        scored = torch.zeros(len(coordinates), 1, dtype=torch.bool)
        scored[0] = True
        return scored

    @override
    def show(self, batch: Batch) -> list[dict[str, str]]:
        return [
            {
                "input": " / ".join(self.write(half) for half in x.chunk(2)),
                "target": self.write(y[:1]),
            }
            for x, y in zip(batch.input[..., 0], batch.target[..., 0], strict=True)
        ]


@lru_cache(maxsize=256)
def pair_coordinates(length: int) -> Coordinates:
    """Return the coordinates of two fields, `first` and `second`, with ordinates 0 to length - 1 each."""
    check_length(length)
    return Coordinates.of(first=range(length), second=range(length))
