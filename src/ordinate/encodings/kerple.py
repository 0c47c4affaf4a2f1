"""Kernelized relative bias (Chi et al. 2022, arXiv 2205.09921): two kernels with learned shape.

Both are conditionally positive definite for the parameters allowed, which are kept in range by smooth maps of free
parameters: r > 0 by softplus, 0 < r < 2 by twice the sigmoid. (The authors clamp instead, where gradients can vanish.)
"""

from abc import abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, EncodingSettings
from ordinate.encodings.positive import free, positive
from ordinate.encodings.toeplitz import LagBias


class KerpleBias(LagBias):
    """r1 and r2 of every layer and head; kinds say how they fall with distance."""

    def __init__(self, layers: int, heads: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(free(torch.rand(layers, heads).clamp(min=0.01)))
        self.shape = nn.Parameter(self.first_shape(torch.rand(layers, heads).clamp(0.01, 0.99)))

    @abstractmethod
    def first_shape(self, drawn: Float[Tensor, "layer head"]) -> Float[Tensor, "layer head"]:
        """The free parameter behind r2, from numbers drawn between 0 and 1."""

    @abstractmethod
    def fall(self, distance: Float[Tensor, " distance"], layer: int) -> Float[Tensor, "head distance"]:
        """How much a score falls with distance, up to the factor r1."""

    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        """-r1 fall(|i - j|)."""
        scale = self.scale[layer]
        distance = torch.arange(len(coordinates), device=scale.device, dtype=scale.dtype)
        return -positive(scale)[:, None] * self.fall(distance, layer)


class KerpleLogBias(KerpleBias):
    """-r1 log(1 + r2 |i - j|), r2 > 0."""

    def first_shape(self, drawn: Float[Tensor, "layer head"]) -> Float[Tensor, "layer head"]:
        """r2 from U(0, 1)."""
        return free(drawn)

    def fall(self, distance: Float[Tensor, " distance"], layer: int) -> Float[Tensor, "head distance"]:
        """log(1 + r2 |i - j|)."""
        return torch.log1p(positive(self.shape[layer])[:, None] * distance)


class KerplePowerBias(KerpleBias):
    """-r1 |i - j|^r2, 0 < r2 < 2."""

    def first_shape(self, drawn: Float[Tensor, "layer head"]) -> Float[Tensor, "layer head"]:
        """r2 from U(0, 2)."""
        return torch.logit(drawn)

    def fall(self, distance: Float[Tensor, " distance"], layer: int) -> Float[Tensor, "head distance"]:
        """|i - j|^r2."""
        return distance ** (2 * torch.sigmoid(self.shape[layer]))[:, None]


class KerpleLog(EncodingSettings):
    """score[i, j] -= r1 log(1 + r2 |i - j|) with r1, r2 > 0 learned for each head and layer, from U(0, 1) at first.

    Example: `encoding = "kerple-log"`.
    """

    name: ClassVar[str] = "kerple-log"
    summary: ClassVar[str] = "scores fall with the logarithm of distance, at a learned rate"
    extrapolation: ClassVar[str] = "defined: the fall goes on"
    source: ClassVar[str] = "Chi et al. 2022, arXiv 2205.09921"

    def build(self, spec: BuildSpec) -> KerpleLogBias:
        """Two numbers for every layer and head."""
        return KerpleLogBias(spec.layers, spec.heads)


class KerplePower(EncodingSettings):
    """score[i, j] -= r1 |i - j|^r2 with r1 > 0 and 0 < r2 < 2 learned for each head and layer.

    At first r1 is from U(0, 1) and r2 from U(0, 2). The paper allows r2 = 2 itself, which is only a limit here.

    Example: `encoding = "kerple-power"`.
    """

    name: ClassVar[str] = "kerple-power"
    summary: ClassVar[str] = "scores fall with a learned power of distance"
    extrapolation: ClassVar[str] = "defined: the fall goes on"
    source: ClassVar[str] = "Chi et al. 2022, arXiv 2205.09921"

    def build(self, spec: BuildSpec) -> KerplePowerBias:
        """Two numbers for every layer and head."""
        return KerplePowerBias(spec.layers, spec.heads)
