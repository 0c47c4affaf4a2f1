"""Dropout from 16 random bits a number: on a CPU the random numbers are what dropout costs."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

LEVELS = 1 << 16


def dropout(x: Float[Tensor, "..."], rate: float | int) -> Float[Tensor, "..."]:
    """x / (1 - p) with chance 1 - p, else 0, where p is `rate` to the nearest of 65 536 levels below 1.

    `torch.nn.functional.dropout` draws a number of 64 bits for every number on a CPU; four fit in one.

    >>> _ = torch.manual_seed(0)
    >>> dropout(torch.ones(8), 0.5)
    tensor([0., 0., 2., 0., 0., 0., 0., 0.])
    """
    dropped = min(round(rate * LEVELS), LEVELS - 1)
    words = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device).random_(-(1 << 63), None)
    bits = words.view(torch.int16)[: x.numel()].view(x.shape)
    kept = (bits >= dropped - LEVELS // 2).to(x.dtype)
    return x * kept.mul_(LEVELS / (LEVELS - dropped))


class Dropout(nn.Dropout):
    """`dropout` in training on a CPU; elsewhere that of torch, which is fast there."""

    def forward(self, x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
        """Drop, or leave as it is."""
        if self.training and self.p and x.device.type == "cpu":
            return dropout(x, self.p)
        return super().forward(x)
