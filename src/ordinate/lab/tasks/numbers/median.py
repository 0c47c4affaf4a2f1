"""Cumulative median."""

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.lab.tasks.numbers.base import Numbers


def cumulative_median(numbers: Float[Tensor, "*batch length"]) -> Float[Tensor, "*batch length"]:
    """y_k = median(x_1, ..., x_k), for even k the midpoint of the two middle numbers.

    Numbers enter a sorted prefix s_1 <= ... <= s_k one at a time: with s_0 = -inf and s_{k+1} = inf, the
    prefix with x in it is s'_i = min(s_i, max(s_{i-1}, x)), the same two operations at every place.

    >>> cumulative_median(torch.tensor([1.0, -2.0, 3.0, 2.0])).tolist()
    [1.0, -0.5, 1.0, 1.5]
    """
    columns = numbers.movedim(-1, 0).contiguous()
    prefix, medians = columns[:1], [columns[0]]
    for k in range(1, len(columns)):
        x = columns[k : k + 1]
        raised = torch.maximum(prefix, x)
        prefix = torch.cat(
            [torch.minimum(prefix[:1], x), torch.minimum(prefix[1:], raised[:-1]), raised[-1:]]
        )
        medians.append((prefix[k // 2] + prefix[(k + 1) // 2]) / 2)
    return torch.stack(medians, -1)


class Median(Numbers, name="median", summary="median of the numbers so far"):
    """The median of the numbers so far: 1 -2 3 2 gives 1 -0.5 1 1.5."""

    @override
    def reference(
        self, inputs: Float[Tensor, "batch token 1"], coordinates: Coordinates | None = None
    ) -> Float[Tensor, "batch token 1"]:
        return cumulative_median(inputs.squeeze(-1)).unsqueeze(-1)
