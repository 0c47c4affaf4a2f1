"""Sines and cosines of the position (Vaswani et al. 2017, arXiv 1706.03762), at any length."""

from typing import ClassVar

import torch
from jaxtyping import Float, Int
from pydantic import Field
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import BuildSpec, EncodingSettings, Terms
from ordinate.encodings.vectors import DUMMY, VectorEncoding, rows


def waves(position: Int[Tensor, " token"], width: int) -> Float[Tensor, "token width"]:
    """P[t, 2i] = sin(t / 10000^(2i / width)), P[t, 2i + 1] = cos of the same; float64, exact at long lengths.

    >>> waves(torch.tensor([0, 1]), 2).float()
    tensor([[0.0000, 1.0000],
            [0.8415, 0.5403]])
    """
    frequency = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = position[:, None] * frequency.to(position.device)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :width]


class SinusoidalEncoding(VectorEncoding):
    """The row of a token is its place in the sequence; a dummy keeps the last row of the trained length."""

    like: Tensor

    def __init__(self, capacity: int, width: int) -> None:
        super().__init__(width)
        self.capacity = capacity
        self.register_buffer("like", torch.empty(0), persistent=False)  # device and type of the model
        self._vectors = Cache[Tensor]()

    def vectors(self, coordinates: Coordinates) -> Float[Tensor, "token width"]:
        """From the formula. With a dummy, rows end before the dummy's own: longer sequences are refused."""
        longest = self.capacity if DUMMY in coordinates.fields else max(self.capacity, len(coordinates))
        return self._vectors(
            (coordinates, self.like.device, self.like.dtype),
            lambda: waves(rows(coordinates, longest), self.width).to(self.like),
        )


class Sinusoidal(EncodingSettings):
    """Sines and cosines of geometric frequencies. The published code of arXiv 2410.01686 uses width 2.

    Example: `encoding = {kind = "sinusoidal", width = 16}`.
    """

    name: ClassVar[str] = "sinusoidal"
    summary: ClassVar[str] = "sines and cosines of geometric frequencies, base 10000"
    extrapolation: ClassVar[str] = "defined: by the formula; refused only in models that append a dummy token"
    source: ClassVar[str] = "Vaswani et al. 2017, arXiv 1706.03762"

    width: int = Field(2, ge=1, le=4096, description="columns appended to a token")

    @classmethod
    def for_contest(cls, terms: Terms) -> "Sinusoidal":
        """As many columns as others append."""
        return cls(width=terms.columns)

    def build(self, spec: BuildSpec) -> SinusoidalEncoding:
        """The capacity says where a dummy stands, and nothing else."""
        return SinusoidalEncoding(spec.capacity, self.width)
