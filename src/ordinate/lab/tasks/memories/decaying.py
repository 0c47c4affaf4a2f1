"""Memories that fade: class III of arXiv 2402.00522, essentially sparse."""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor
from typing_extensions import override

from ordinate.attention.convolution import causal_convolutions
from ordinate.lab.tasks.memories.base import MemoryTask, check_reach
from ordinate.lab.tasks.memories.kernels import Exponential, Kernels
from ordinate.lab.tasks.memories.tokens import Tokens
from ordinate.lab.tasks.numbers.sampling import whole


class DecayingMemory(
    MemoryTask,
    name="decaying-memory",
    summary="function of sums over all tokens before, weighted by decaying kernels",
    axes=("length", "memories"),
):
    """A function of weighted sums over all tokens before: with the kernel 1, 1/2 and no readout, 2 4 gives 2 5.

        y_t = f((X * rho_1)(t), ..., (X * rho_M)(t)),     (X * rho)(t) = sum_{s >= 0} rho(s) x_{t-s}

    Kernels are `exponential`, `polynomial`, `given` as a list, or wavelets (`ricker`, `haar`). A sequence has zeros
    before it, so every token has an answer. Sums are computed in float64 by FFT. Harder along `length` and
    `memories` (so many of the kernels count).
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

    @property
    @override
    def readout_tokens(self) -> Tokens | None:
        return None

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
