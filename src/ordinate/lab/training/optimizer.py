"""Optimisers, and schedules of their learning rate, as kinds that a recipe names."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

import torch
from pydantic import Field
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau
from typing_extensions import override

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


class Adam(Optimizer, name="adam", summary="Adam; weight decay is added to the gradient"):
    """Adam (Kingma and Ba 2015): PyTorch's own, fused."""

    algorithm: ClassVar[Callable[..., torch.optim.Optimizer]] = torch.optim.Adam

    @override
    def build(self, parameters: Any) -> torch.optim.Optimizer:
        return self.algorithm(
            parameters, self.learning_rate, self.betas, weight_decay=self.weight_decay, fused=True
        )


class AdamW(
    Adam, name="adamw", summary="Adam; weight decay shrinks the weights directly", algorithm=torch.optim.AdamW
):
    """Adam with decoupled weight decay (Loshchilov and Hutter 2019)."""


class Muon(Optimizer, name="muon", summary="matrices take orthogonal steps, all else those of adamw"):
    """AdamW, but for matrices, whose step is made orthogonal (`ordinate.lab.training.muon`)."""

    momentum: float = Field(0.95, ge=0, lt=1, description="of the gradients of matrices")
    smallest: int = Field(64, ge=1, description="rows and columns that a matrix has at least")

    @override
    def build(self, parameters: Any) -> torch.optim.Optimizer:
        return MuonAdamW(
            parameters,
            self.learning_rate,
            self.betas,
            weight_decay=self.weight_decay,
            momentum=self.momentum,
            smallest=self.smallest,
        )


OPTIMIZERS: dict[str, type[Optimizer]] = {kind.name: kind for kind in (Adam, AdamW, Muon)}


class Schedule(Kind):
    """How the learning rate moves."""

    watches_loss: ClassVar[bool] = False
    """Whether the schedule is stepped by the training loss once an epoch, instead of after every step."""

    @abstractmethod
    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        """Attach to an optimiser for a training of that many steps."""


class _One:
    def __call__(self, step: int) -> float:
        return 1.0


class Constant(Schedule, name="constant", summary="the learning rate stays"):
    """The rate stays."""

    @override
    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        return LambdaLR(optimizer, _One())


class Falling(Schedule):
    """Linear warm-up, then down to `floor` times the rate, as a function of the step alone."""

    warmup: float = Field(0.02, ge=0, le=1, description="share of the steps")
    floor: float = Field(0.0, ge=0, le=1, description="share of the rate that is left at the end")

    factor: ClassVar[type["_Factor"]]

    @override
    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        return LambdaLR(optimizer, self.factor(self.warmup, self.floor, steps))


class _Factor(ABC):
    """The share of the rate at a step. Only numbers are kept, since they go into the states of a run."""

    def __init__(self, warmup: float, floor: float, steps: int) -> None:
        self.rising, self.floor, self.steps = max(1, round(warmup * steps)), floor, steps

    @abstractmethod
    def left(self, done: float) -> float:
        """What is left of the way to the floor when this share of the steps after warm-up is done: 1 to 0."""

    def __call__(self, step: int) -> float:
        if step < self.rising:
            return (step + 1) / self.rising
        done = (step - self.rising) / max(1, self.steps - self.rising)
        return self.floor + (1 - self.floor) * self.left(done)


class _CosineFactor(_Factor):
    @override
    def left(self, done: float) -> float:
        return 0.5 * (1 + float(torch.cos(torch.pi * torch.tensor(done, dtype=torch.float64))))


class _LinearFactor(_Factor):
    @override
    def left(self, done: float) -> float:
        return 1 - done


class Cosine(Falling, name="cosine", summary="linear warm-up, then half a cosine down", factor=_CosineFactor):
    """Down along half a cosine."""


class Linear(
    Falling, name="linear", summary="linear warm-up, then a straight line down", factor=_LinearFactor
):
    """Down along a straight line."""


class Plateau(
    Schedule,
    name="plateau",
    summary="smaller steps when the training loss stops falling",
    watches_loss=True,
):
    """Multiply the rate by `factor` when the training loss has not fallen for `patience` epochs (as published)."""

    patience: int = Field(50, ge=0)
    factor: float = Field(0.9, gt=0, lt=1)
    least: float = Field(1e-6, ge=0, description="smallest rate")

    @override
    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        return ReduceLROnPlateau(
            optimizer, mode="min", patience=self.patience, factor=self.factor, min_lr=self.least
        )


SCHEDULES: dict[str, type[Schedule]] = {kind.name: kind for kind in (Constant, Cosine, Linear, Plateau)}
