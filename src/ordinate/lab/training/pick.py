"""Picking a checkpoint: of the weights seen along a training, those with the best score at one point.

The second paper picks its checkpoint on a small validation set of longer sequences than those of training. A recipe
that does so says it (`training.pick`), and the last weights are always measured beside the picked ones.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ordinate.lab.evaluation.sweep import TestSet, measure, test_set
from ordinate.lab.seeds import derive
from ordinate.lab.tasks.base import Task
from ordinate.lab.training.recipe import Pick
from ordinate.models import Model


@dataclass
class Picked:
    """The best weights so far, with their step and score; at first none."""

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
            self.model.load_state_dict(
                {
                    name.removeprefix("picked."): value
                    for name, value in tensors.items()
                    if name.startswith("picked.")
                }
            )
            self.step, self.score = int(meta["step"]), float(meta["score"])
