"""Hard retrieval: every query takes one key, the one with the highest score (Xu et al. 2020, arXiv 2009.14658).

forward    weights[t, s] = 1 for s = argmax_j score[t, j], the first of several, else 0
backward   as if the weights were softmax(score): a straight-through gradient
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.attention.decay import present_weights


def hard_weights(scores: Float[Tensor, "*batch head query key"]) -> Float[Tensor, "*batch head query key"]:
    """One key a query, with the gradient of the softmax; rows without any key are zeros.

    >>> hard_weights(torch.tensor([[[0.0, 2.0, 1.0]]])).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    soft = present_weights(scores, normalised=True)
    place = scores.argmax(-1, keepdim=True)
    one = torch.zeros_like(scores).scatter(-1, place, 1.0)
    hard = torch.where(scores.gather(-1, place) > float("-inf"), one, 0.0)
    return hard + soft - soft.detach()
