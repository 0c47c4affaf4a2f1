"""Relative biases with one trained slope a head (arXiv 2402.00522): p phi(t - s), p > 0.

    phi_lin(z) = -z           z >= 0       head kernel e^{-p z}
    phi_log(z) = -log z       z >= 1       head kernel z^{-p}; lag 0 is not seen

The first is ALiBi with slopes that are trained, the second KERPLE's logarithm with r2 fixed and the 1 left out. Slopes
are kept positive by softplus of a free parameter; the paper does not say where they start, here they are spaced
geometrically over a range.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn
from typing_extensions import override

from ordinate.coordinates import Coordinates
from ordinate.encodings.bias import LagBias
from ordinate.encodings.encoding import BuildSpec
from ordinate.encodings.helpers import free, positive
from ordinate.errors import OrdinateError

S = TypeVar("S", bound="SlopeBias")


class SlopeBias(
    LagBias, extrapolation="defined: the fall goes on", source="Wang and E 2024, arXiv 2402.00522"
):
    """p phi(lag) with p > 0 for every layer and head; kinds say what phi is."""

    first: tuple[float, float] = Field(
        description="smallest and largest slope at first; one head has their geometric mean"
    )

    @override
    def check_settings(self) -> None:
        least, most = self.first
        if not 0 < least <= most < float("inf"):
            raise ValueError(
                f"must have first = [smallest, largest] with 0 < smallest, got {list(self.first)}"
            )

    @override
    def setup(self, spec: BuildSpec) -> None:
        """Slopes are spaced geometrically over the heads, the same in all layers."""
        least, most = self.first
        place = torch.linspace(0, 1, spec.heads) if spec.heads > 1 else torch.tensor([0.5])
        self.free_slopes = nn.Parameter(free((least * (most / least) ** place).repeat(spec.layers, 1)))

    def with_slopes(self: S, slopes: Float[Tensor, "layer head"]) -> S:
        """Make the encoding with these p instead of the first ones."""
        built = self.unbuilt()
        built.free_slopes = nn.Parameter(free(slopes))
        return built

    @abstractmethod
    def phi(self, lag: Float[Tensor, " lag"]) -> Float[Tensor, " lag"]:
        """How a score falls with the lag; -inf where a key is absent."""

    @property
    def slopes(self) -> Float[Tensor, "layer head"]:
        """p of every layer and head."""
        return positive(self.free_slopes)

    def set_slopes(self, layer: int, slopes: Sequence[float] | Float[Tensor, " head"]) -> None:
        """Put these p into a layer."""
        given = torch.as_tensor(slopes, dtype=torch.float64)
        if not bool((given > 0).all()):
            raise OrdinateError(f"slopes must be positive, got {float(given.min()):g}: write p > 0")
        with torch.no_grad():
            self.free_slopes[layer] = free(given).to(self.free_slopes)

    @override
    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        """No gradient reaches p from where phi is -inf."""
        slope = self.slopes[layer]
        phi = self.phi(torch.arange(len(coordinates), device=slope.device, dtype=slope.dtype))
        there = phi.isfinite()
        return torch.where(there, slope[:, None] * torch.where(there, phi, 0.0), float("-inf"))


class RpeLin(SlopeBias, name="rpe-lin", summary="scores fall with distance, at a learned slope of each head"):
    """score[i, j] -= p (i - j) with p > 0 learned for each head and layer.

    Example: `encoding = "rpe-lin"`.
    """

    first: tuple[float, float] = Field(
        default=(1 / 256, 1.0),
        description="smallest and largest slope at first; one head has their geometric mean",
    )

    @override
    def phi(self, lag: Float[Tensor, " lag"]) -> Float[Tensor, " lag"]:
        return -lag


class RpeLog(
    SlopeBias,
    name="rpe-log",
    summary="scores fall with the logarithm of distance, at a learned slope; lag 0 is not seen",
):
    """score[i, j] -= p log(i - j + shift) with p > 0 learned for each head and layer.

    What lag 0 weighs is a convention. As published `shift` is 0: a head does not see its own token, and the first
    token, which has no other, receives 0. With `shift = 1` the kernel is (1 + z)^-p, and lag 0 weighs most.

    Example: `encoding = {kind = "rpe-log", shift = 1}`.
    """

    first: tuple[float, float] = Field(
        default=(1 / 4, 4.0),
        description="smallest and largest slope at first; one head has their geometric mean",
    )
    shift: float = Field(
        default=0.0, ge=0, le=1024, description="added to the lag; 0 hides lag 0, as published"
    )

    @override
    def phi(self, lag: Float[Tensor, " lag"]) -> Float[Tensor, " lag"]:
        return torch.where(lag + self.shift > 0, -torch.log(lag + self.shift), float("-inf"))

    @override
    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        """For attention that looks both ways; a token that is alone has no key there."""
        if len(coordinates) == 1 and not self.shift:
            raise OrdinateError(
                "rpe-log does not see lag 0, so one token alone has no key: "
                'write encoding = {kind = "rpe-log", shift = 1}'
            )
        return super().bias(coordinates, layer)
