"""Members of an ensemble: all that each seed of a recipe owns while it trains, and the losses of K of them in one pass.

Every member owns its model, optimiser, schedule and data, exactly as a separate run would. Only the forward and
backward passes are shared: the parameters are stacked along a new axis, which `torch.vmap` maps over.
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.func import functional_call
from torch.optim.lr_scheduler import LRScheduler

from ordinate.lab.evaluation.points import Point
from ordinate.lab.evaluation.sweep import TestSet, measure
from ordinate.lab.runs import Run, Store
from ordinate.lab.seeds import seed_noise
from ordinate.lab.tasks.batch import Answers, Batch
from ordinate.lab.training.data import Data
from ordinate.lab.training.measured import Picked, draw_tests, point_name, under
from ordinate.lab.training.recipe import Recipe
from ordinate.lab.training.weights import untrained_model
from ordinate.models import Model

DTYPES = {"float32": torch.float32, "bfloat16": torch.float32, "float64": torch.float64}
"""What the parameters are kept in; bfloat16 is a precision of products, not of parameters."""


@dataclass
class Member:
    """One seed in training."""

    recipe: Recipe
    seed: int
    run: Run
    model: Model
    optimizer: torch.optim.Optimizer
    schedule: LRScheduler
    data: Data
    average: Model | None = None
    """The model with averaged weights, where the recipe asks for it; it is what is measured and kept."""
    picked: Picked | None = None
    """The best of the weights measured so far, where the recipe picks some."""
    logged: float = 0.0
    """Sum of the losses since the last row of metrics."""
    epoch_loss: float = 0.0
    """Sum of the losses of this epoch, for schedules that watch the loss."""
    failed_at: int | None = None
    tests: list[TestSet] = field(default_factory=list)

    @classmethod
    def start(cls, recipe: Recipe, seed: int, run: Run, store: Store, device: torch.device) -> "Member":
        """First weights and data of a seed."""
        training = recipe.training
        model = untrained_model(recipe, seed, store)
        model.to(device, DTYPES[training.precision])
        optimizer = training.optimizer.build(model.parameters())
        schedule = training.schedule.build(optimizer, training.steps)
        data = Data(recipe.task, batch=training.batch, samples=training.samples, seed=seed)
        average = None if training.average is None else deepcopy(model).requires_grad_(False)
        picked = None if training.pick is None else Picked.start(training.pick, recipe.task, seed)
        return cls(recipe, seed, run, model, optimizer, schedule, data, average, picked)

    @property
    def best(self) -> Model:
        """The model that is measured and kept: the averaged one where there is one."""
        return self.model if self.average is None else self.average

    @cached_property
    def weights(self) -> list[Tensor]:
        """What is trained."""
        return list(self.model.parameters())

    @cached_property
    def averaged(self) -> list[Tensor]:
        """The averages of the weights, where there are any."""
        return [] if self.average is None else list(self.average.parameters())

    @property
    def parameters(self) -> int:
        """How many numbers are trained."""
        return sum(p.numel() for p in self.weights)

    @property
    def learning_rate(self) -> float:
        """The rate of the next step."""
        return float(self.optimizer.param_groups[0]["lr"])

    def learn(self, loss: float, step: int) -> None:
        """Turn the gradients of step number `step` (counted from 1) into a step; a loss that is no number ends it."""
        if not math.isfinite(loss):
            self.failed_at = step
            return
        training = self.recipe.training
        if training.clip is not None:
            torch.nn.utils.clip_grad_norm_(self.weights, training.clip)
        self.optimizer.step()
        self._average(step)
        self.logged += loss
        self.epoch_loss += loss
        if not training.schedule.watches_loss:
            self.schedule.step()
        elif step % self.data.epoch == 0:
            self.schedule.step(self.epoch_loss)  # type: ignore[arg-type]
        if step % self.data.epoch == 0:
            self.epoch_loss = 0.0

    def _average(self, step: int) -> None:
        """average <- decay * average + (1 - decay) * weights, with less memory in the first steps."""
        decay = self.recipe.training.average
        if self.average is not None and decay is not None:
            moved = 1 - min(decay, step / (step + 10))
            with torch.no_grad():
                torch._foreach_lerp_(self.averaged, self.weights, moved)

    def evaluate(self, model: Model) -> list[tuple[str, Point, Tensor]]:
        """A model's validation error and every point of the axes: name, point, and the error of every sample.

        The test sets are drawn once.
        """
        task, evaluation = self.recipe.task, self.recipe.evaluation
        if not self.tests:
            self.tests = draw_tests(self.recipe, self.seed)
        tolerance = {"relative": evaluation.relative, "absolute": evaluation.absolute}
        measured = []
        model.eval()
        for place, tests in enumerate(self.tests):
            point, errors = measure(model, task, tests, **tolerance)
            measured.append((point_name(place, point), point, errors))
        model.train()
        return measured

    # States: all that going on needs, as tensors and plain data

    def pack(self, seconds: float) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Pack the member; data needs nothing, since a batch is a function of the step."""
        tensors = {f"model.{name}": value for name, value in self.model.state_dict().items()}
        if self.average is not None:
            tensors |= {f"average.{name}": value for name, value in self.average.state_dict().items()}
        optimizer = self.optimizer.state_dict()
        for number, slots in optimizer["state"].items():
            tensors |= {f"optimizer.{number}.{slot}": value for slot, value in slots.items()}
        meta = {
            "groups": [
                {k: v for k, v in group.items() if k in ("lr", "initial_lr")}
                for group in optimizer["param_groups"]
            ],
            "schedule": {
                k: v for k, v in self.schedule.state_dict().items() if isinstance(v, int | float | list)
            },
            "logged": self.logged,
            "epoch_loss": self.epoch_loss,
            "seconds": seconds,
        }
        if self.picked is not None:
            picked, meta["picked"] = self.picked.pack()
            tensors |= picked
        return tensors, meta

    def unpack(self, tensors: dict[str, Tensor], meta: dict[str, Any]) -> float:
        """Restore what `pack` made and return the seconds trained so far."""
        for prefix, model in (("model.", self.model), ("average.", self.average)):
            if model is not None:
                model.load_state_dict(under(prefix, tensors))
        optimizer = self.optimizer.state_dict()
        for name, value in under("optimizer.", tensors).items():
            number, slot = name.split(".")
            optimizer["state"].setdefault(int(number), {})[slot] = value
        for group, kept in zip(optimizer["param_groups"], meta["groups"], strict=True):
            group |= kept
        self.optimizer.load_state_dict(optimizer)
        self.schedule.load_state_dict(self.schedule.state_dict() | meta["schedule"])
        self.logged, self.epoch_loss = meta["logged"], meta["epoch_loss"]
        if self.picked is not None:
            self.picked.unpack(tensors, meta["picked"], like=self.best)
        return float(meta["seconds"])


def loss(
    output: Float[Tensor, "batch token out"], target: Answers, scored: Bool[Tensor, " token #out"]
) -> Float[Tensor, ""]:
    """Mean over the scored outputs: squared error of numbers, cross-entropy of symbols.

    Written as a weighted sum so that it can be mapped over members.
    """
    weight = scored.to(output.dtype) / (scored.sum() * len(output))
    if target.is_floating_point():
        return ((output - target).square() * weight).sum()
    losses = F.cross_entropy(output.transpose(1, 2), target, reduction="none")
    return (losses * weight[:, 0]).sum()


def ensemble_losses(
    models: Sequence[nn.Module],
    batches: Sequence[Batch],
    scored: Sequence[Bool[Tensor, "_ _"]],
    *,
    vectorised: bool = True,
    noise: Sequence[int] | None = None,
) -> Float[Tensor, " member"]:
    """The loss of every member on its own batch, with gradients to its own parameters.

    Members whose batches have other layouts, and models that cannot be mapped over, are computed one after another,
    each with the global generator at its own seed of `noise`, so that no member depends on its companions.
    """
    coordinates = batches[0].coordinates
    if len(models) == 1 or not vectorised or any(batch.coordinates != coordinates for batch in batches):
        found = []
        for place, (model, batch, counts) in enumerate(zip(models, batches, scored, strict=True)):
            if noise is not None:
                seed_noise(noise[place])
            found.append(loss(model(batch.input, batch.coordinates), batch.target, counts))
        return torch.stack(found)
    named = [dict(model.named_parameters()) for model in models]
    stacked = {name: torch.stack([parameters[name] for parameters in named]) for name in named[0]}

    def member(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return loss(functional_call(models[0], parameters, (x, coordinates)), y, scored[0])

    inputs = torch.stack([batch.input for batch in batches])
    targets = torch.stack([batch.target for batch in batches])
    losses: Tensor = torch.vmap(member)(stacked, inputs, targets)
    return losses
