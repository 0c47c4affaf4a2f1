"""What a training measures: its test sets, which are tried before it begins, and the best of the weights along it."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.points import Point
from ordinate.lab.evaluation.sweep import TestSet, measure, test_set, trained_point
from ordinate.lab.seeds import derive
from ordinate.lab.tasks.base import Task
from ordinate.lab.training.recipe import Pick, Recipe
from ordinate.models import Model


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


def check_measured(recipe: Recipe, model: Model) -> None:
    """Refuse, before the training and not after it, points that a task does not have or the model cannot take.

    One sample of every point is drawn, and the longest goes through the untrained model.
    """
    evaluation, pick = recipe.evaluation, recipe.training.pick
    small = recipe.model_copy(update={"evaluation": evaluation.model_copy(update={"count": 1})})
    try:
        tests = draw_tests(small, seed=0)
        if pick is not None:
            tests.append(test_set(recipe.task, pick.axis, pick.value, count=1, seed=0))
        batches = [batch.to(torch.device("cpu"), torch.float32) for test in tests for batch in test.batches]
        longest = max(batches, key=lambda batch: len(batch.coordinates))
        with torch.no_grad():
            model.eval()(longest.input, longest.coordinates)
    except OrdinateError as error:
        raise OrdinateError(f"evaluation: {error}") from None


@dataclass
class Picked:
    """The best weights so far at one point (`training.pick`), with their step and score; at first none.

    The second paper picks its checkpoint so, on a small validation set of longer sequences than those of training. The
    last weights are always measured beside the picked ones.
    """

    tests: TestSet
    model: Model | None = None
    step: int = 0
    score: float | None = None

    @classmethod
    def start(cls, pick: Pick, task: Task, seed: int) -> "Picked":
        """Draw the validation set of a seed: other samples than those of any test."""
        return cls(test_set(task, pick.axis, pick.value, count=pick.count, seed=derive(seed, "pick")))

    def compare(self, model: Model, task: Task, step: int) -> float:
        """Keep a copy of the model if it is no worse than what was kept, and return its score."""
        model.eval()
        point, _ = measure(model, task, self.tests)
        model.train()
        if (
            self.score is None
            or point.score == self.score
            or (point.score < self.score) == point.lower_is_better
        ):
            self.model, self.step, self.score = deepcopy(model), step, point.score
        return point.score

    def pack(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """The kept weights and what is known of them, for a state."""
        if self.model is None:
            return {}, {}
        tensors = {f"picked.{name}": value for name, value in self.model.state_dict().items()}
        return tensors, {"step": self.step, "score": self.score}

    def unpack(self, tensors: dict[str, Tensor], meta: dict[str, Any], like: Model) -> None:
        """Restore what `pack` made into a copy of a model of the same shape."""
        if meta:
            self.model = deepcopy(like)
            self.model.load_state_dict(under("picked.", tensors))
            self.step, self.score = int(meta["step"]), float(meta["score"])


def under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin so, by the rest of their names.

    >>> under("model.", {"model.bias": torch.zeros(1), "average.bias": torch.ones(1)})
    {'bias': tensor([0.])}
    """
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
