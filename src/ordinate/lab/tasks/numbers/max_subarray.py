"""Cumulative maximum-sum subarray."""

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.numbers.base import Numbers


def cumulative_max_subarray(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = max over 1 <= i <= j <= k of x_i + ... + x_j: the best non-empty run so far (Kadane).

    The best run that ends at k is e_k = x_k + max(e_{k-1}, 0), and y_k = max(y_{k-1}, e_k).

    >>> cumulative_max_subarray(torch.tensor([-3.0, 2.0, -1.0, 4.0, -6.0])).tolist()
    [-3.0, 2.0, 2.0, 5.0, 5.0]
    """
    columns = numbers.movedim(-1, 0).contiguous()
    ending = best = columns[0]
    answers = [best]
    for x in columns[1:]:
        ending = x + ending.clamp(min=0)
        best = torch.maximum(best, ending)
        answers.append(best)
    return torch.stack(answers, -1)


class MaxSubarray(
    Numbers, name="max-subarray", summary="largest sum of a non-empty run of the numbers so far"
):
    """The largest sum of a non-empty run of neighbours so far: -3 2 -1 4 -6 gives -3 2 2 5 5."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        return cumulative_max_subarray(inputs.squeeze(-1)).unsqueeze(-1)
