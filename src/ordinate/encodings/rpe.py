"""Relative biases with one trained slope a head (arXiv 2402.00522): p phi(t - s), p > 0.

    phi_lin(z) = -z           z >= 0       head kernel e^{-p z}
    phi_log(z) = -log z       z >= 1       head kernel z^{-p}; lag 0 is not seen

The first is ALiBi with slopes that are trained, the second KERPLE's logarithm with r2 fixed and the 1 left out. Slopes
are kept positive by softplus of a free parameter; the paper does not say where they start, here they are spaced
geometrically over a range.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from ordinate.coordinates import Coordinates
from ordinate.encodings.encoding import BuildSpec, EncodingSettings, Terms
from ordinate.encodings.positive import free, positive
from ordinate.encodings.toeplitz import LagBias
from ordinate.errors import OrdinateError


class SlopeBias(LagBias):
    """p phi(lag) with p > 0 for every layer and head; kinds say what phi is."""

    def __init__(self, slopes: Float[Tensor, "layer head"]) -> None:
        super().__init__()
        self.free_slopes = nn.Parameter(free(slopes))

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

    def lags(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head lag"]:
        """p phi(lag), and -inf where phi is: no gradient reaches p from there."""
        slope = self.slopes[layer]
        phi = self.phi(torch.arange(len(coordinates), device=slope.device, dtype=slope.dtype))
        there = phi.isfinite()
        return torch.where(there, slope[:, None] * torch.where(there, phi, 0.0), float("-inf"))


class LinBias(SlopeBias):
    """phi_lin."""

    def phi(self, lag: Float[Tensor, " lag"]) -> Float[Tensor, " lag"]:
        """-z."""
        return -lag


class LogBias(SlopeBias):
    """phi_log of lag + shift."""

    def __init__(self, slopes: Float[Tensor, "layer head"], shift: float) -> None:
        super().__init__(slopes)
        self.shift = shift

    def phi(self, lag: Float[Tensor, " lag"]) -> Float[Tensor, " lag"]:
        """-log(z + shift); -inf at lag 0 where nothing is added."""
        return torch.where(lag + self.shift > 0, -torch.log(lag + self.shift), float("-inf"))

    def bias(self, coordinates: Coordinates, layer: int) -> Float[Tensor, "head query key"]:
        """For attention that looks both ways; a token that is alone has no key there."""
        if len(coordinates) == 1 and not self.shift:
            raise OrdinateError(
                "rpe-log does not see lag 0, so one token alone has no key: "
                'write encoding = {kind = "rpe-log", shift = 1}'
            )
        return super().bias(coordinates, layer)


class RpeSettings(EncodingSettings):
    """What both kinds share."""

    extrapolation: ClassVar[str] = "defined: the fall goes on"
    source: ClassVar[str] = "Wang and E 2024, arXiv 2402.00522"

    first: tuple[float, float] = Field(
        description="smallest and largest slope at first; one head has their geometric mean"
    )

    @model_validator(mode="after")
    def _is_a_range(self) -> "RpeSettings":
        least, most = self.first
        if not 0 < least <= most < float("inf"):
            raise ValueError(
                f"must have first = [smallest, largest] with 0 < smallest, got {list(self.first)}"
            )
        return self

    def slopes(self, spec: BuildSpec) -> Float[Tensor, "layer head"]:
        """Spaced geometrically over the heads, the same in all layers."""
        least, most = self.first
        place = torch.linspace(0, 1, spec.heads) if spec.heads > 1 else torch.tensor([0.5])
        return (least * (most / least) ** place).repeat(spec.layers, 1)


class RpeLin(RpeSettings):
    """score[i, j] -= p (i - j) with p > 0 learned for each head and layer.

    Example: `encoding = "rpe-lin"`.
    """

    name: ClassVar[str] = "rpe-lin"
    summary: ClassVar[str] = "scores fall with distance, at a learned slope of each head"

    first: tuple[float, float] = Field(
        (1 / 256, 1.0), description="smallest and largest slope at first; one head has their geometric mean"
    )

    def build(self, spec: BuildSpec) -> LinBias:
        """A slope for every layer and head."""
        return LinBias(self.slopes(spec))


class RpeLog(RpeSettings):
    """score[i, j] -= p log(i - j + shift) with p > 0 learned for each head and layer.

    What lag 0 weighs is a convention. As published `shift` is 0: a head does not see its own token, and the first
    token, which has no other, receives 0. With `shift = 1` the kernel is (1 + z)^-p, and lag 0 weighs most.

    Example: `encoding = {kind = "rpe-log", shift = 1}`.
    """

    name: ClassVar[str] = "rpe-log"
    summary: ClassVar[str] = (
        "scores fall with the logarithm of distance, at a learned slope; lag 0 is not seen"
    )

    first: tuple[float, float] = Field(
        (1 / 4, 4.0), description="smallest and largest slope at first; one head has their geometric mean"
    )
    shift: float = Field(0.0, ge=0, le=1024, description="added to the lag; 0 hides lag 0, as published")

    @classmethod
    def for_contest(cls, terms: Terms) -> "RpeLog":
        """With lag 0, which every other encoding sees."""
        return cls(shift=1)

    def build(self, spec: BuildSpec) -> LogBias:
        """A slope for every layer and head."""
        return LogBias(self.slopes(spec), self.shift)
