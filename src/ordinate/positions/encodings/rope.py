"""Rotary position embedding (Su et al. 2021, arXiv 2104.09864)."""

from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.positions.encodings.encoding import Encoding, EncodingSettings, Site


def rotate_pairs(
    x: Float[Tensor, "*batch token dim"], position: Float[Tensor, " token"], base: float
) -> Float[Tensor, "*batch token dim"]:
    """Rotate the pair (x_i, x_{i + d/2}) of the token at position t by the angle t / base^(2i / d).

    The position axis is the one before the last. Dot products of two rotated vectors then depend on the
    difference of their positions only.
    """
    half = x.shape[-1] // 2
    frequency = base ** (-torch.arange(half, dtype=x.dtype, device=x.device) / half)
    angle = position.to(x)[:, None] * frequency
    cos, sin = angle.cos(), angle.sin()
    first, second = x[..., :half], x[..., half : 2 * half]
    rotated = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return torch.cat([rotated, x[..., 2 * half :]], dim=-1)


class RotaryEncoding(Encoding):
    """Turns queries and keys by their place in the sequence; an odd last column stays as it is."""

    def __init__(self, base: float = 10000.0) -> None:
        super().__init__()
        self.base = base

    def rotate(
        self,
        query: Float[Tensor, "*batch head token dim"],
        key: Float[Tensor, "*batch head token dim"],
        coordinates: Coordinates,
    ) -> tuple[Float[Tensor, "*batch head token dim"], Float[Tensor, "*batch head token dim"]]:
        """Rotate along the token axis. (The published baseline rotated along the head axis, which cancels.)"""
        position = torch.arange(len(coordinates), device=query.device, dtype=query.dtype)
        return rotate_pairs(query, position, self.base), rotate_pairs(key, position, self.base)


class Rope(EncodingSettings):
    """RoPE with the usual base.

    Example: `encoding = {kind = "rope", base = 10000.0}`.
    """

    name: ClassVar[str] = "rope"
    summary: ClassVar[str] = "queries and keys turned by their place in the sequence"
    beyond: ClassVar[str] = "defined: unseen distances give angles never trained"
    source: ClassVar[str] = "Su et al. 2021, arXiv 2104.09864"

    base: float = Field(10000.0, gt=1)

    def build(self, site: Site) -> RotaryEncoding:
        """Any capacity will do."""
        return RotaryEncoding(self.base)
