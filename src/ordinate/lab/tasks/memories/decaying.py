"""Memories that fade: class III of arXiv 2402.00522, essentially sparse."""

from collections.abc import Mapping
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor

from ordinate.attention.convolution import causal_convolutions
from ordinate.lab.tasks.memories.base import MemoryTask, check_reach
from ordinate.lab.tasks.memories.kernels import Exponential, Kernels
from ordinate.lab.tasks.memories.tokens import Tokens
from ordinate.lab.tasks.numbers.sampling import whole


class DecayingMemory(MemoryTask):
    """A function of weighted sums over all tokens before: with the kernel 1, 1/2 and no readout, 2 4 gives 2 5.

        y_t = f((X * rho_1)(t), ..., (X * rho_M)(t)),     (X * rho)(t) = sum_{s >= 0} rho(s) x_{t-s}

    Kernels are `exponential`, `polynomial`, `given` as a list, or wavelets (`ricker`, `haar`). A sequence has zeros
    before it, so every token has an answer. Sums are computed in float64 by FFT. Harder along `length` and
    `memories` (so many of the kernels count).
    """

    name: ClassVar[str] = "decaying-memory"
    summary: ClassVar[str] = "function of sums over all tokens before, weighted by decaying kernels"
    axes: ClassVar[tuple[str, ...]] = ("length", "memories")

    kernels: Kernels = Field((Exponential(),), min_length=1, max_length=1024)

    @model_validator(mode="after")
    def _fits(self) -> "DecayingMemory":
        for kernel in self.kernels:
            kernel.check()
        check_reach(self.reach, self.length)
        self.readout.check(len(self.kernels), None)
        return self

    @property
    def reach(self) -> int:
        """Where the last list ends or the last wavelet stands; 0 where kernels have no such place."""
        return max(kernel.furthest for kernel in self.kernels)

    @property
    def readout_tokens(self) -> Tokens | None:
        """A memory is a sum of many."""
        return None

    def value(self, axis: str) -> int:
        """How many kernels there are."""
        return len(self.kernels)

    def changed(self, axes: Mapping[str, int]) -> dict[str, Any]:
        """Fewer kernels."""
        return {"kernels": self.kernels[: whole("memories", axes["memories"], 1, len(self.kernels))]}

    def memories_of(self, numbers: Float[Tensor, "batch token"]) -> Float[Tensor, "batch token memory"]:
        """The sums."""
        rho = torch.stack([kernel.weights(numbers.shape[1]) for kernel in self.kernels]).to(numbers.device)
        sums = causal_convolutions(rho, numbers.double())
        return sums.transpose(1, 2).to(numbers.dtype)
