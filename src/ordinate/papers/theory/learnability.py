"""Theorem 6.1 of the first paper (arXiv 2410.01686): how far the risk of a Transformer can be from its training error.

    |risk - training error| <= (H L_s B_2)^{c L} [B_QK^{c L}] B_21 sqrt(log(H d m n) / m) + sqrt(log(1 / delta) / m)

for all models with these norms at once, with probability 1 - delta over m samples. The factor in brackets is that of
standard attention (Edelman et al. 2022, arXiv 2110.10090); positional attention does not have it, because rows of
weights that do not depend on the input are probabilities for all queries and keys.

Known are the symbols and the form. Not known are the absolute constant c (1 unless another is given), the
constant in front, and how loss and inputs are bounded; norms are read as usual, B_2 as the largest spectral norm and
B_21 as the largest (2, 1) norm of a weight matrix of the values, outputs and perceptrons. So the numbers are no
guarantee: what can be read from them is how the bound changes with samples, depth, heads and training.
"""

import math
from dataclasses import dataclass

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from ordinate.lab.architectures import ConcatTransformer, ScoredAttention


@dataclass(frozen=True)
class Norms:
    """What the bound depends on, measured on a model; the activation is a ReLU, with Lipschitz constant 1."""

    layers: int
    heads: int
    width: int
    tokens: int
    spectral: float
    """B_2: the largest spectral norm of a value, output or perceptron matrix."""
    columns: float
    """B_21: the largest sum of the lengths of a matrix's columns."""
    scores: float
    """B_QK: the largest spectral norm of W_Q W_K^T, the scaling by 1 / sqrt(d) included."""


def measure_norms(model: ConcatTransformer, tokens: int) -> Norms:
    """The norms of a model on sequences of `tokens` tokens, the dummy included.

    >>> from ordinate.lab.architectures import Positional
    >>> from ordinate.models import build_model
    >>> from ordinate.lab.tasks import make_task
    >>> norms = measure_norms(build_model(Positional(layers=2), make_task("sum"), seed=0), tokens=9)
    >>> norms.layers, norms.heads, norms.width
    (2, 2, 64)
    """
    matrices, products = [], []
    for block in model.blocks:
        attention = block.attention
        matrices += [attention.to_values.weight, attention.to_output.weight]
        matrices += [block.up.weight, block.down.weight]
        if isinstance(attention, ScoredAttention):
            products += list(_score_matrices(attention))
    first = model.blocks[0].attention
    with torch.no_grad():
        return Norms(
            layers=len(model.blocks),
            heads=first.heads,
            width=first.width,
            tokens=tokens,
            spectral=max(spectral_norm(matrix) for matrix in matrices),
            columns=max(column_norm(matrix) for matrix in matrices),
            scores=max((spectral_norm(matrix) for matrix in products), default=0.0),
        )


def _score_matrices(attention: ScoredAttention) -> Float[Tensor, "head source source"]:
    """W_Q W_K^T / sqrt(d) of every head."""
    query, key = rearrange(
        attention.query_key.weight,
        "(two head dim) source -> two head dim source",
        two=2,
        head=attention.heads,
    )
    products: Tensor = query.transpose(-1, -2) @ key / math.sqrt(query.shape[-2])
    return products


def spectral_norm(matrix: Float[Tensor, "row column"]) -> float:
    """The largest singular value."""
    return float(torch.linalg.matrix_norm(matrix.double(), 2))


def column_norm(matrix: Float[Tensor, "out in"]) -> float:
    """(2, 1) norm of W in x W: the sum over inputs of the length of what each is multiplied with.

    >>> column_norm(torch.tensor([[3.0, 0.0], [4.0, 2.0]]))
    7.0
    """
    return float(matrix.double().norm(dim=0).sum())


@dataclass(frozen=True)
class Bound:
    """The bound with its parts, in natural logarithms: it is far beyond any number a float can hold with depth."""

    log_capacity: float
    """log of everything in front of the square root."""
    samples: int
    log_size: float
    """log(H d m n)."""
    delta: float

    @property
    def log_value(self) -> float:
        """log of the whole bound."""
        first = self.log_capacity + 0.5 * math.log(self.log_size / self.samples)
        second = 0.5 * math.log(math.log(1 / self.delta) / self.samples)
        return max(first, second) + math.log1p(math.exp(-abs(first - second)))


def theorem_6_1(
    norms: Norms, samples: int, *, positional: bool, delta: float = 0.05, exponent: float = 1.0
) -> Bound:
    """The bound for m samples, with `exponent` as the absolute constant c.

    Halving it takes four times the samples, but for the logarithm:

    >>> norms = Norms(layers=1, heads=1, width=4, tokens=4, spectral=2.0, columns=3.0, scores=5.0)
    >>> few, many = (theorem_6_1(norms, m, positional=True).log_value for m in (10**8, 4 * 10**8))
    >>> round(math.exp(few - many), 1)
    1.9
    >>> standard = theorem_6_1(norms, 100, positional=False).log_capacity
    >>> round(math.exp(standard - theorem_6_1(norms, 100, positional=True).log_capacity), 6)
    5.0
    """
    base = math.log(norms.heads * norms.spectral) + (0.0 if positional else math.log(norms.scores))
    return Bound(
        log_capacity=exponent * norms.layers * base + math.log(norms.columns),
        samples=samples,
        log_size=math.log(norms.heads * norms.width * samples * norms.tokens),
        delta=delta,
    )
