"""What models are given: inputs, numbers as they are and symbols one-hot, and what a model asks of its task."""

from typing import Protocol, runtime_checkable

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from ordinate.coordinates import Coordinates

Inputs = Float[Tensor, "batch token feature"] | Int[Tensor, "batch token"]
"""Numbers, `features` of them a token; or symbols, one a token, as indices below `features`.

Or both: numbers of which the first is the index of a symbol. They are then fewer than `features`, which counts the
symbols and the other numbers.
"""


@runtime_checkable
class Problem(Protocol):
    """What a model asks of a task: the widths of its tokens, and where they stand in training."""

    @property
    def features(self) -> int:
        """Width of an input token once its symbol, where it has one, is written one-hot."""

    @property
    def outputs(self) -> int:
        """Width of an output token; the number of symbols where answers are symbols."""

    def lengths(self) -> tuple[int, ...]:
        """Lengths seen in training, shortest first."""

    def trained(self) -> tuple[Coordinates, ...]:
        """The coordinates that training shows, of every length and kind of layout."""


def as_features(x: Inputs, features: int, dtype: torch.dtype) -> Float[Tensor, "batch token {features}"]:
    """Return numbers unchanged and symbols as rows of the identity; in mixed inputs, the rows and then the numbers.

    >>> as_features(torch.tensor([[2, 0]]), 3, torch.float32).tolist()
    [[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]]
    >>> as_features(torch.tensor([[[1.0, 0.5]]]), 3, torch.float32).tolist()
    [[[0.0, 1.0, 0.5]]]
    """
    if not x.is_floating_point():
        return F.one_hot(x, features).to(dtype)
    if x.shape[-1] == features:
        return x
    symbols, numbers = x[..., 0].long(), x[..., 1:]
    return torch.cat([F.one_hot(symbols, features - numbers.shape[-1]).to(x.dtype), numbers], dim=-1)
