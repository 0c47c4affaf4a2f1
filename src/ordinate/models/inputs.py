"""Inputs of models: numbers as they are, symbols one-hot."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ordinate.tasks.task import Inputs


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
