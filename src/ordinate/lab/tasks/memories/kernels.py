"""Kernels rho: how much a token counts that is so many places back."""

import math
from abc import abstractmethod
from typing import Annotated, Any

import torch
from jaxtyping import Float
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, choose

Weights = Float[Tensor, " lag"]


class Kernel(Kind):
    """rho(0), rho(1), ...; the theory asks for a finite sum of |rho|."""

    @property
    def furthest(self) -> int:
        """A lag that a sequence must have for the kernel to make sense."""
        return 0

    def check(self) -> None:
        """Refuse what is not summable."""

    @abstractmethod
    def weights(self, length: int) -> Weights:
        """The first `length` of them, in float64."""


class _Falling(Kernel):
    """Kernels without an end, unless they are cut."""

    cut: int | None = Field(
        None, ge=1, le=2**20, description="weights from this lag on are 0; no end without"
    )

    @abstractmethod
    def fall(self, lag: Weights) -> Weights:
        """The weights without an end."""

    @abstractmethod
    def diverges(self) -> str:
        """What to write instead, where the sum has no end; nothing where it has."""

    @override
    def check(self) -> None:
        instead = self.diverges()
        if instead and self.cut is None:
            raise OrdinateError(
                f"kernel {self.name!r} is not summable: write {instead}, or cut=1000 to end it at that lag"
            )

    @override
    def weights(self, length: int) -> Weights:
        lag = torch.arange(length, dtype=torch.float64)
        weights = self.fall(lag)
        return weights if self.cut is None else weights.masked_fill(lag >= self.cut, 0.0)


class Exponential(_Falling, name="exponential", summary="e^(-rate s), a light tail"):
    """rho(s) = e^{-rate s}: a light tail."""

    rate: float = Field(1.0, ge=0, allow_inf_nan=False, description="beta")

    @override
    def diverges(self) -> str:
        return "" if self.rate > 0 else "a rate above 0"

    @override
    def fall(self, lag: Weights) -> Weights:
        return torch.exp(-self.rate * lag)


class Polynomial(_Falling, name="polynomial", summary="s^(-power) from lag 1 on, a heavy tail"):
    """rho(s) = s^{-power} for s >= 1, and 0 at lag 0: a heavy tail, summable where the power is above 1."""

    power: float = Field(2.0, ge=0, allow_inf_nan=False, description="beta")

    @override
    def diverges(self) -> str:
        return "" if self.power > 1 else "a power above 1"

    @override
    def fall(self, lag: Weights) -> Weights:
        return torch.where(lag > 0, lag.clamp(min=1) ** -self.power, 0.0)


class Given(Kernel, name="given", summary="weights as a list, lag 0 first"):
    """rho as a list, rho(0) first, and 0 behind its end."""

    rho: tuple[Annotated[float, Field(allow_inf_nan=False)], ...] = Field(
        min_length=1, max_length=2**20, description="weights, lag 0 first"
    )

    @property
    @override
    def furthest(self) -> int:
        return len(self.rho) - 1

    @override
    def weights(self, length: int) -> Weights:
        weights = torch.zeros(length, dtype=torch.float64)
        kept = self.rho[:length]
        weights[: len(kept)] = torch.tensor(kept, dtype=torch.float64)
        return weights


class _Wavelet(Kernel):
    """rho(s) = psi((s - shift) / scale) / sqrt(scale)."""

    scale: float = Field(2.0, gt=0, allow_inf_nan=False, description="a")
    shift: float = Field(
        8.0, ge=0, le=2**20, description="b: the lag around which, or from which, it is not 0"
    )

    @abstractmethod
    def psi(self, u: Weights) -> Weights:
        """The mother wavelet."""

    @property
    @override
    def furthest(self) -> int:
        return math.ceil(self.shift)

    @override
    def weights(self, length: int) -> Weights:
        lag = torch.arange(length, dtype=torch.float64)
        return self.psi((lag - self.shift) / self.scale) / math.sqrt(self.scale)


class Ricker(_Wavelet, name="ricker", summary="wavelet (1 - u^2) e^(-u^2 / 2), scaled and shifted"):
    """psi(u) = (1 - u^2) e^{-u^2 / 2}, the Mexican hat."""

    @override
    def psi(self, u: Weights) -> Weights:
        return (1 - u**2) * torch.exp(-(u**2) / 2)


class Haar(_Wavelet, name="haar", summary="wavelet 1 on [0, 1/2), -1 on [1/2, 1), scaled and shifted"):
    """psi(u) = 1 on [0, 1/2), -1 on [1/2, 1), else 0."""

    @override
    def psi(self, u: Weights) -> Weights:
        return ((u >= 0) & (u < 0.5)).double() - ((u >= 0.5) & (u < 1)).double()


KERNELS: dict[str, type[Kernel]] = {
    kind.name: kind for kind in (Exponential, Polynomial, Given, Ricker, Haar)
}


def _kernels(value: Any) -> tuple[Kernel, ...]:
    values = value if isinstance(value, list | tuple) else [value]
    return tuple(choose(v, KERNELS, "task.kernels") for v in values)


Kernels = Annotated[tuple[SerializeAsAny[Kernel], ...], BeforeValidator(_kernels)]
"""One kernel, or a list with one for each memory."""
