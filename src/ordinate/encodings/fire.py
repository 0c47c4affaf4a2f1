"""Functional interpolation of relative positions (Li et al. 2024, arXiv 2310.04418)."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.cache import Cache
from ordinate.encodings.encoding import BuildSpec, Encoding, EncodingSettings, Terms

TINY = 1e-6
"""Keeps 0 / 0 away should the threshold reach 0."""


class FireFunction(nn.Module):
    """f(psi(distance) / psi(max(place, L))), psi(x) = log(c x + 1); f is a small network with an output a head."""

    def __init__(self, heads: int, hidden: int, threshold: float) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(1, hidden), nn.Linear(hidden, heads)
        self.c = nn.Parameter(torch.tensor(0.1))
        self.first_threshold = threshold
        self.threshold = nn.Parameter(
            torch.tensor(1.0)
        )  # in units of the first, so that one step rate suits all

    def _psi(self, x: Float[Tensor, "query key"]) -> Float[Tensor, "query key"]:
        return torch.log1p(self.c.abs() * x)

    def forward(
        self, distance: Float[Tensor, "query key"], place: Float[Tensor, "query key"]
    ) -> Float[Tensor, "head query key"]:
        """A bias for every pair."""
        furthest = torch.maximum(place, self.threshold.abs() * self.first_threshold)
        ratio = self._psi(distance) / (self._psi(furthest) + TINY)
        output: Tensor = self.down(F.relu(self.up(ratio[..., None])))
        return output.movedim(-1, 0)


class FireBias(Encoding):
    """One function a layer, or one for all of them."""

    def __init__(self, functions: int, heads: int, hidden: int, threshold: float) -> None:
        super().__init__()
        self.functions = nn.ModuleList(FireFunction(heads, hidden, threshold) for _ in range(functions))
        self._places = Cache[tuple[Tensor, Tensor]](most=4)  # large: tokens^2

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        """b[i, j] = f(psi(|i - j|) / psi(max(i, j, L)))."""
        function = self.functions[layer if len(self.functions) > 1 else 0]
        like = next(function.parameters())
        tokens = len(coordinates)

        def find() -> tuple[Tensor, Tensor]:
            place = torch.arange(tokens, device=like.device, dtype=like.dtype)
            return (place[:, None] - place).abs(), torch.maximum(place[:, None], place)

        bias: Tensor = function(*self._places((tokens, like.device, like.dtype), find))
        return bias


class Fire(EncodingSettings):
    """score[i, j] += f(psi(|i - j|) / psi(max(i, j, L))), psi(x) = log(c x + 1), with f, c and L learned.

    The paper is causal: psi(i - j) / psi(max(i, L)) with i >= j. Here |i - j| takes the place of i - j, and the later
    of the two places that of i, so that pairs with j <= i have the published value, the ratio stays in [0, 1] on both
    sides, and tokens appended later change nothing. `shared = true` is the paper's FIRE-S.

    Example: `encoding = {kind = "fire", threshold = 64.0}`.
    """

    name: ClassVar[str] = "fire"
    summary: ClassVar[str] = "scores biased by a learned function of distance relative to the place"
    extrapolation: ClassVar[str] = (
        "defined: distances are divided by the place, so that the ratio stays in the trained range"
    )
    source: ClassVar[str] = "Li et al. 2024, arXiv 2310.04418"

    hidden: int = Field(32, ge=1, le=4096, description="width of the function's hidden layer")
    threshold: float = Field(512.0, gt=0, description="first L: places before it are not interpolated")
    shared: bool = Field(False, description="one function for all layers")

    @classmethod
    def for_contest(cls, terms: Terms) -> "Fire":
        """A threshold of a quarter of the longest training sequence: 512 of 2048 in the paper."""
        return cls(threshold=terms.spec.capacity / 4)

    def build(self, spec: BuildSpec) -> FireBias:
        """An output for every head."""
        return FireBias(1 if self.shared else spec.layers, spec.heads, self.hidden, self.threshold)
