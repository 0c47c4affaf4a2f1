"""Feed-forward layers "with precision" (arXiv 2402.00522, equation 15): what they write is rounded.

    lin    round(z)                 a whole number: how far back a memory is
    log    log(round(exp(z)))       the logarithm of one, at least that of 1

Rounding is what lets an index that a network computes only nearly point at the right token. By Proposition C.1 it moves
z by at most 1/2, or, for z >= 1, by at most 1 / (2 min(e^z, round(e^z))).

The slope of a rounding is 0 wherever it has one, so that nothing would be learned through it. Gradients go straight
through instead: they are those of z.
"""

import math
from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor
from typing_extensions import override

from ordinate.kinds import Kind


class Precision(Kind):
    """A rounding of what a feed-forward layer writes."""

    @abstractmethod
    def rounded(self, z: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """The nearest number that can be written."""

    def apply(self, z: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """The same, with the gradient of z."""
        # z + (r - z) is r to the last bit: r is 0, or between z / 2 and 2 z, where a difference has no error.
        return z + (self.rounded(z) - z).detach()


class WholeNumbers(Precision, name="lin", summary="to whole numbers, the lags of rpe-lin"):
    """round(z); half goes to the even neighbour.

    >>> WholeNumbers().apply(torch.tensor([1.2, -0.7, 2.5]))
    tensor([ 1., -1.,  2.])
    """

    @override
    def rounded(self, z: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        return z.round()


class LogsOfWholeNumbers(
    Precision, name="log", summary="to logarithms of whole numbers from 1 on, the lags of rpe-log"
):
    """log(round(exp(z))), and 0 = log(1) where e^z is below 1, for which the formula has no number.

    Where all numbers as large as e^z are whole, z is as it was.

    >>> LogsOfWholeNumbers().apply(torch.tensor([-3.0, 0.1, 1.1])).exp()
    tensor([1., 1., 3.])
    """

    @override
    def rounded(self, z: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        largest = -math.log(torch.finfo(z.dtype).eps)
        whole = z.clamp(max=largest).exp().round().clamp(min=1)
        return torch.where(z < largest, whole.log(), z)


PRECISIONS: dict[str, type[Precision]] = {kind.name: kind for kind in (WholeNumbers, LogsOfWholeNumbers)}
