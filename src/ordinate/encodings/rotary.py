"""Rotary position embedding (Su et al. 2021, arXiv 2104.09864)."""

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, Encoding
from ordinate.encodings.helpers import Cache


def rotate_pairs(
    x: Float[Tensor, "*batch token dim"], position: Float[Tensor, " token"], base: float
) -> Float[Tensor, "*batch token dim"]:
    """Rotate the pair (x_i, x_{i + d/2}) of the token at position t by the angle t / base^(2i / d).

    The position axis is the one before the last. Dot products of two rotated vectors then depend on the
    difference of their positions only.
    """
    return _rotated(x, *_angles(position.to(x), x.shape[-1] // 2, base))


def _angles(
    position: Float[Tensor, " token"], half: int, base: float
) -> tuple[Float[Tensor, "token half"], Float[Tensor, "token half"]]:
    """Cosines and sines."""
    frequency = base ** (-torch.arange(half, dtype=position.dtype, device=position.device) / half)
    angle = position[:, None] * frequency
    return angle.cos(), angle.sin()


def _rotated(
    x: Float[Tensor, "*batch token dim"], cos: Float[Tensor, "token half"], sin: Float[Tensor, "token half"]
) -> Float[Tensor, "*batch token dim"]:
    half = cos.shape[-1]
    first, second, odd = x.split([half, half, x.shape[-1] - 2 * half], dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos, odd], dim=-1)


class Rope(
    Encoding,
    name="rope",
    summary="queries and keys turned by their place in the sequence",
    extrapolation="defined: unseen distances give angles never trained",
    source="Su et al. 2021, arXiv 2104.09864",
):
    """Queries and keys turned by their place in the sequence; an odd last column stays as it is.

    Example: `encoding = {kind = "rope", base = 10000.0}`.
    """

    base: float = Field(default=10000.0, gt=1)

    @override
    def setup(self, spec: BuildSpec) -> None:
        self._angles = Cache[list[Tensor]]()

    @override
    def rotate(
        self,
        query: Float[Tensor, "*batch head token dim"],
        key: Float[Tensor, "*batch head token dim"],
        coordinates: Coordinates,
    ) -> tuple[Float[Tensor, "*batch head token dim"], Float[Tensor, "*batch head token dim"]]:
        """Rotate along the token axis. (The published baseline rotated along the head axis, which cancels.)"""
        tokens, half = len(coordinates), query.shape[-1] // 2
        angles = self._angles(
            (tokens, half, query.dtype, query.device),
            lambda: [part.to(query) for part in _angles(torch.arange(tokens).double(), half, self.base)],
        )
        return _rotated(query, *angles), _rotated(key, *angles)
