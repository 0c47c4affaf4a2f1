"""Attention with linear biases (Press et al. 2022, arXiv 2108.12409)."""

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import BuildSpec, EncodingSettings
from ordinate.encodings.toeplitz import LagBias, by_distance


def slopes(heads: int) -> list[float]:
    """2^(-8h / H), h = 1 .. H, where H is a power of two; else those of the power below, and then every other one
    of the power above.

    >>> slopes(4), slopes(3)
    ([0.25, 0.0625, 0.015625, 0.00390625], [0.0625, 0.00390625, 0.25])
    """
    below = 2 ** (heads.bit_length() - 1)
    above = [2.0 ** (-8 * h / (2 * below)) for h in range(1, 2 * below + 1)]
    return above[1::2] + above[::2][: heads - below]


class AlibiBias(LagBias):
    """Fixed slopes; nothing is trained."""

    slopes: Tensor

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor(slopes(heads)), persistent=False)
        self._bias = Cache[Tensor](most=2)  # large: heads x tokens^2

    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        """-slope |i - j|."""
        return -self.slopes[:, None] * torch.arange(len(coordinates), device=self.slopes.device)

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        """b[i, j] = -slope |i - j|."""
        key = len(coordinates), self.slopes.device, self.slopes.dtype
        return self._bias(key, lambda: by_distance(self.lags(coordinates, layer)))


class Alibi(EncodingSettings):
    """score[i, j] -= m_h |i - j| with fixed slopes m_h = 2^(-8h / H).

    The paper is causal, where |i - j| = i - j; encoders take the distance on both sides alike.

    Example: `encoding = "alibi"`.
    """

    name: ClassVar[str] = "alibi"
    summary: ClassVar[str] = "scores fall with distance at a fixed slope of each head"
    extrapolation: ClassVar[str] = "defined: the slope goes on"
    source: ClassVar[str] = "Press et al. 2022, arXiv 2108.12409"

    def build(self, spec: BuildSpec) -> AlibiBias:
        """A slope for every head."""
        return AlibiBias(spec.heads)
