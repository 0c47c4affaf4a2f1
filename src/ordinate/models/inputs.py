"""Inputs of models: numbers as they are, symbols one-hot."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from ordinate.tasks.task import Inputs


def as_features(x: Inputs, features: int, dtype: torch.dtype) -> Float[Tensor, "batch token feature"]:
    """Return numbers unchanged and symbols as rows of the identity.

    >>> as_features(torch.tensor([[2, 0]]), 3, torch.float32).tolist()
    [[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]]
    """
    return x if x.is_floating_point() else F.one_hot(x, features).to(dtype)
