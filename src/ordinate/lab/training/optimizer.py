"""Optimisers, as kinds that a recipe names."""

from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import torch
from pydantic import Field

from ordinate.kinds import Kind
from ordinate.lab.training.muon import MuonAdamW

Decay = Annotated[float, Field(ge=0, lt=1)]
"""Of a running mean."""


class Optimizer(Kind):
    """How a gradient becomes a step."""

    learning_rate: float = Field(2e-3, gt=0, le=10)
    betas: tuple[Decay, Decay] = (0.9, 0.999)
    weight_decay: float = Field(0.0, ge=0, allow_inf_nan=False)

    @abstractmethod
    def build(self, parameters: Any) -> torch.optim.Optimizer:
        """Attach to parameters."""


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015)."""

    name: ClassVar[str] = "adam"
    summary: ClassVar[str] = "Adam; weight decay is added to the gradient"

    def build(self, parameters: Any) -> torch.optim.Optimizer:
        """PyTorch's own, fused."""
        return torch.optim.Adam(
            parameters, self.learning_rate, self.betas, weight_decay=self.weight_decay, fused=True
        )


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""

    name: ClassVar[str] = "adamw"
    summary: ClassVar[str] = "Adam; weight decay shrinks the weights directly"

    def build(self, parameters: Any) -> torch.optim.Optimizer:
        """PyTorch's own, fused."""
        return torch.optim.AdamW(
            parameters, self.learning_rate, self.betas, weight_decay=self.weight_decay, fused=True
        )


class Muon(Optimizer):
    """AdamW, but for matrices, whose step is made orthogonal (`ordinate.lab.training.muon`)."""

    name: ClassVar[str] = "muon"
    summary: ClassVar[str] = "matrices take orthogonal steps, all else those of adamw"

    momentum: float = Field(0.95, ge=0, lt=1, description="of the gradients of matrices")
    smallest: int = Field(64, ge=1, description="rows and columns that a matrix has at least")

    def build(self, parameters: Any) -> torch.optim.Optimizer:
        """Sort out the matrices."""
        return MuonAdamW(
            parameters,
            self.learning_rate,
            self.betas,
            weight_decay=self.weight_decay,
            momentum=self.momentum,
            smallest=self.smallest,
        )


OPTIMIZERS: dict[str, type[Optimizer]] = {kind.name: kind for kind in (Adam, AdamW, Muon)}
