"""How large each scale of the figures on numbers is: `paper` as published, `laptop` what 2 cores can do."""

from dataclasses import dataclass
from typing import Any

from ordinate.lab.tasks import Task
from ordinate.lab.training import Evaluation, Recipe, Training
from ordinate.models import ModelSettings
from ordinate.papers.positional.value_scale import SETTINGS


@dataclass(frozen=True)
class Size:
    """Training, seeds and tests of a scale, and in what it differs from the published setting."""

    training: Training
    seeds: int
    count: int
    differs: str = ""

    def recipe(
        self,
        name: str,
        task: Task,
        model: ModelSettings,
        axes: dict[str, tuple[float, ...]],
        **training: Any,
    ) -> Recipe:
        """One model on one task; `training` changes single settings of the scale's training."""
        return Recipe(
            name=name,
            task=task,
            model=model,
            training=self.training.model_copy(update=training),
            evaluation=Evaluation(count=self.count, axes=axes),
        )


SIZES = {
    "smoke": Size(SETTINGS["smoke"].training.model_copy(update={"steps": 4, "batch": 16}), 1, 20),
    "laptop": Size(
        SETTINGS["laptop"].training,
        SETTINGS["laptop"].seeds,
        SETTINGS["laptop"].count,
        "Differs from the published setting: three runs instead of ten, thousands of steps instead of 60 030, "
        "fresh samples instead of a fixed set unless the figure is about samples.",
    ),
    "paper": Size(SETTINGS["paper"].training, SETTINGS["paper"].seeds, SETTINGS["paper"].count),
}


def described(laptop: str) -> dict[str, str]:
    """The scales of a figure, with what is said of each."""
    return {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": laptop,
        "paper": "as published, ten runs, for GPUs",
    }
