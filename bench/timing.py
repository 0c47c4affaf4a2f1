"""Timing on a shared machine: sides take turns in short slices, so that noise meets both; medians count."""

import torch

from ordinate.lab.evaluation.cost import seconds_of


def matmul_rate(size: int, dtype: torch.dtype = torch.float32) -> float:
    """Floating-point operations per second of one product of square matrices, 2 size^3 of them."""
    a, b = torch.ones(size, size, dtype=dtype), torch.ones(size, size, dtype=dtype)
    a @ b
    return 2.0 * size**3 / seconds_of(lambda: a @ b)
