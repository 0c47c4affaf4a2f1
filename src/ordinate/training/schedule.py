"""Learning-rate schedules, as kinds that a recipe names."""

from abc import abstractmethod
from typing import ClassVar

import torch
from pydantic import Field
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, ReduceLROnPlateau

from ordinate.kinds import Kind


class Schedule(Kind):
    """How the learning rate moves."""

    watches_loss: ClassVar[bool] = False
    """Whether the schedule is stepped by the training loss once an epoch, instead of after every step."""

    @abstractmethod
    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        """Attach to an optimiser for a training of that many steps."""


class Constant(Schedule):
    """The rate stays."""

    name: ClassVar[str] = "constant"
    summary: ClassVar[str] = "the learning rate stays"

    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        """Factor 1."""
        return LambdaLR(optimizer, _One())


class Cosine(Schedule):
    """Linear warm-up, then half a cosine down to `floor` times the rate."""

    name: ClassVar[str] = "cosine"
    summary: ClassVar[str] = "linear warm-up, then half a cosine down"

    warmup: float = Field(0.02, ge=0, le=1, description="share of the steps")
    floor: float = Field(0.0, ge=0, le=1, description="share of the rate that is left at the end")

    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        """Factor as a function of the step alone."""
        return LambdaLR(optimizer, _CosineFactor(self.warmup, self.floor, steps))


class Linear(Schedule):
    """Linear warm-up, then a straight line down to `floor` times the rate."""

    name: ClassVar[str] = "linear"
    summary: ClassVar[str] = "linear warm-up, then a straight line down"

    warmup: float = Field(0.02, ge=0, le=1, description="share of the steps")
    floor: float = Field(0.0, ge=0, le=1, description="share of the rate that is left at the end")

    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        """Factor as a function of the step alone."""
        return LambdaLR(optimizer, _LinearFactor(self.warmup, self.floor, steps))


class Plateau(Schedule):
    """Multiply the rate by `factor` when the training loss has not fallen for `patience` epochs (as published)."""

    name: ClassVar[str] = "plateau"
    summary: ClassVar[str] = "smaller steps when the training loss stops falling"
    watches_loss: ClassVar[bool] = True

    patience: int = Field(50, ge=0)
    factor: float = Field(0.9, gt=0, lt=1)
    least: float = Field(1e-6, ge=0, description="smallest rate")

    def build(self, optimizer: torch.optim.Optimizer, steps: int) -> LRScheduler:
        """PyTorch's own."""
        return ReduceLROnPlateau(
            optimizer, mode="min", patience=self.patience, factor=self.factor, min_lr=self.least
        )


SCHEDULES: dict[str, type[Schedule]] = {kind.name: kind for kind in (Constant, Cosine, Linear, Plateau)}


class _One:
    def __call__(self, step: int) -> float:
        return 1.0


class _CosineFactor:
    def __init__(self, warmup: float, floor: float, steps: int) -> None:
        self.rising, self.floor, self.steps = max(1, round(warmup * steps)), floor, steps

    def __call__(self, step: int) -> float:
        if step < self.rising:
            return (step + 1) / self.rising
        done = torch.tensor((step - self.rising) / max(1, self.steps - self.rising), dtype=torch.float64)
        return self.floor + (1 - self.floor) * 0.5 * (1 + float(torch.cos(torch.pi * done)))


class _LinearFactor:
    def __init__(self, warmup: float, floor: float, steps: int) -> None:
        self.rising, self.floor, self.steps = max(1, round(warmup * steps)), floor, steps

    def __call__(self, step: int) -> float:
        if step < self.rising:
            return (step + 1) / self.rising
        return self.floor + (1 - self.floor) * (1 - (step - self.rising) / max(1, self.steps - self.rising))
