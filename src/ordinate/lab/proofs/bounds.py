"""What a perceptron computes, and how far a computer in floating point can be from it.

A dot product of n terms in floating point of unit roundoff u, in whatever order its terms are added, with or without
fused multiply-add, differs from the exact one by at most gamma_n sum |w_j a_j|, gamma_n = n u / (1 - n u) (Higham,
Accuracy and Stability of Numerical Algorithms, section 3.1). A layer y = W a + b, given inputs that are off by at most
e, is then off by at most

    |W| e + gamma_{n+2} (|W| (|a| + e) + |b|) + tiny

where tiny covers numbers below the normal ones, flushed to zero or not; ReLU makes no error larger. Values here are
computed in float64 from the weights as they are; their own error, by the same formula, is added to the bound.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

SINGLE, DOUBLE = 2.0**-24, 2.0**-53
"""Unit roundoffs."""
SMALLEST = 2.0**-126
"""The smallest normal number of float32."""
SLACK = 1 + 1e-9
"""Covers the rounding of the bounds themselves, which are sums of numbers above 0 in float64."""


@dataclass(frozen=True)
class Layer:
    """A linear map and its shift."""

    weight: Float[Tensor, "out inner"]
    bias: Float[Tensor, " out"]


@dataclass(frozen=True)
class Bounded:
    """Numbers, and the most by which a computation in float32 (or more precise) can differ from them."""

    value: Float[Tensor, "..."]
    error: Float[Tensor, "..."]


def gamma(terms: int, unit: float) -> float:
    """gamma_n = n u / (1 - n u).

    >>> gamma(2, 0.25)
    1.0
    """
    return terms * unit / (1 - terms * unit)


def perceptron(layers: Sequence[Layer], x: Float[Tensor, "row inner"]) -> Bounded:
    """Linear maps with ReLU between them, of inputs that are exact.

    >>> exact = perceptron([Layer(torch.tensor([[1.0, -2.0]]), torch.tensor([0.5]))], torch.tensor([[1.0, 1.0]]))
    >>> exact.value.tolist(), bool(0 < exact.error < 2e-6)
    ([[-0.5]], True)
    """
    value = x.double()
    error = torch.zeros_like(value)
    for number, layer in enumerate(layers):
        weight, bias = layer.weight.double(), layer.bias.double()
        if number:
            value = value.relu()
        terms = weight.shape[1] + 2
        size = (value.abs() + error) @ weight.abs().T + bias.abs()
        rounding = (gamma(terms, SINGLE) + gamma(terms, DOUBLE)) * size + 2 * terms * SMALLEST
        error = (error @ weight.abs().T + rounding) * SLACK
        value = value @ weight.T + bias
    return Bounded(value, error)
