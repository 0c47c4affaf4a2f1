"""Memories that fade: class III of arXiv 2402.00522, essentially sparse."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

import torch
from jaxtyping import Float
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from torch import Tensor
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind, choose
from ordinate.lab.architectures.convolution import causal_convolutions
from ordinate.lab.tasks.memories.fixed import MemoryTask, check_reach
from ordinate.lab.tasks.sampling import whole

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
    """Kernels without an end, unless they are cut; their sum is finite where an option is above a bound."""

    option: ClassVar[str]
    above: ClassVar[int]

    cut: int | None = Field(
        None, ge=1, le=2**20, description="weights from this lag on are 0; by default there is no end"
    )

    @abstractmethod
    def fall(self, lag: Weights) -> Weights:
        """The weights without an end."""

    @override
    def check(self) -> None:
        if getattr(self, self.option) <= self.above and self.cut is None:
            raise OrdinateError(
                f"kernel {self.name!r} is not summable: write a {self.option} above {self.above}, "
                "or cut=1000 to end it at that lag"
            )

    @override
    def weights(self, length: int) -> Weights:
        lag = torch.arange(length, dtype=torch.float64)
        weights = self.fall(lag)
        return weights if self.cut is None else weights.masked_fill(lag >= self.cut, 0.0)


class Exponential(_Falling, name="exponential", summary="e^(-rate s), a light tail", option="rate", above=0):
    """rho(s) = e^{-rate s}: a light tail."""

    rate: float = Field(1.0, ge=0, allow_inf_nan=False, description="beta")

    @override
    def fall(self, lag: Weights) -> Weights:
        return torch.exp(-self.rate * lag)


class Polynomial(
    _Falling, name="polynomial", summary="s^(-power) from lag 1 on, a heavy tail", option="power", above=1
):
    """rho(s) = s^{-power} for s >= 1, and 0 at lag 0: a heavy tail, summable where the power is above 1."""

    power: float = Field(2.0, ge=0, allow_inf_nan=False, description="beta")

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


class DecayingMemory(
    MemoryTask,
    name="decaying-memory",
    summary="function of sums over all tokens before, weighted by decaying kernels",
    axes=("length", "memories"),
    sums=True,
):
    """A function of weighted sums over all tokens before: with the kernel 1, 1/2 and no readout, 2 4 gives 2 5.

        y_t = f((X * rho_1)(t), ..., (X * rho_M)(t)),     (X * rho)(t) = sum_{s >= 0} rho(s) x_{t-s}

    Kernels are `exponential`, `polynomial`, `given` as a list, or wavelets (`ricker`, `haar`). A sequence has zeros
    before it, so every token has an answer. Sums are computed in float64 by FFT. Harder along `length` and
    `memories` (only that many of the kernels count).
    """

    kernels: Kernels = Field((Exponential(),), min_length=1, max_length=1024)

    @model_validator(mode="after")
    def _fits(self) -> "DecayingMemory":
        for kernel in self.kernels:
            kernel.check()
        check_reach(self.reach, self.length)
        self.readout.check(len(self.kernels), None)
        return self

    @property
    @override
    def reach(self) -> int:
        """Where the last list ends or the last wavelet stands; 0 where kernels have no such place."""
        return max(kernel.furthest for kernel in self.kernels)

    @override
    def value(self, axis: str) -> int:
        return len(self.kernels)

    @override
    def changed(self, axes: Mapping[str, int]) -> dict[str, Any]:
        return {"kernels": self.kernels[: whole("memories", axes["memories"], 1, len(self.kernels))]}

    @override
    def memories_of(self, numbers: Float[Tensor, "batch token"]) -> Float[Tensor, "batch token memory"]:
        rho = torch.stack([kernel.weights(numbers.shape[1]) for kernel in self.kernels]).to(numbers.device)
        sums = causal_convolutions(rho, numbers.double())
        return sums.transpose(1, 2).to(numbers.dtype)
