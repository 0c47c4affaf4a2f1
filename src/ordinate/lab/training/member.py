"""A member: everything that one seed of a recipe owns while it trains, and how it is packed into a state."""

import math
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.optim.lr_scheduler import LRScheduler

from ordinate.lab.evaluation.points import Point
from ordinate.lab.evaluation.sweep import TestSet, measure, test_set, trained_point
from ordinate.lab.runs import Run, Store
from ordinate.lab.seeds import derive
from ordinate.lab.training.data import Data
from ordinate.lab.training.initial import untrained_model
from ordinate.lab.training.pick import Picked
from ordinate.lab.training.recipe import Recipe
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

    def evaluate(self, model: Model) -> tuple[list[Point], dict[str, Tensor]]:
        """Measure a model's validation error and every point of the axes; the test sets are drawn once."""
        evaluation = self.recipe.evaluation
        if not self.tests:
            self.tests = draw_tests(self.recipe, self.seed)
        points, errors = [], {}
        model.eval()
        for place, tests in enumerate(self.tests):
            point, per_sample = measure(
                model,
                self.recipe.task,
                tests,
                relative=evaluation.relative,
                absolute=evaluation.absolute,
            )
            points.append(point)
            errors[point_name(place, point)] = per_sample.float()
        model.train()
        return points, errors

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
                model.load_state_dict(
                    {
                        name.removeprefix(prefix): value
                        for name, value in tensors.items()
                        if name.startswith(prefix)
                    }
                )
        optimizer = self.optimizer.state_dict()
        for name, value in tensors.items():
            if name.startswith("optimizer."):
                _, number, slot = name.split(".")
                optimizer["state"].setdefault(int(number), {})[slot] = value
        for group, kept in zip(optimizer["param_groups"], meta["groups"], strict=True):
            group |= kept
        self.optimizer.load_state_dict(optimizer)
        self.schedule.load_state_dict(self.schedule.state_dict() | meta["schedule"])
        self.logged, self.epoch_loss = meta["logged"], meta["epoch_loss"]
        if self.picked is not None:
            self.picked.unpack(tensors, meta["picked"], like=self.best)
        return float(meta["seconds"])


def draw_tests(recipe: Recipe, seed: int) -> list[TestSet]:
    """Draw the validation set and the samples of every point of the axes: the same for every model of a seed."""
    evaluation = recipe.evaluation
    wanted = [trained_point(recipe.task)]
    wanted += [(axis, value) for axis, values in evaluation.axes.items() for value in values]
    return [
        test_set(
            recipe.task,
            axis,
            value,
            count=evaluation.count,
            seed=derive(seed, place),
            length=evaluation.length if place else None,
        )
        for place, (axis, value) in enumerate(wanted)
    ]


def point_name(place: int, point: Point) -> str:
    """Name of a point's per-sample errors: the first point is the validation set."""
    return "validation" if place == 0 and point.in_distribution else f"{point.axis}={point.value:g}"
