"""Budgets: what all recipes of a study have in common, so that comparing them is fair."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from ordinate.errors import OrdinateError
from ordinate.kinds import Kind
from ordinate.lab.training import Recipe
from ordinate.lab.training.data import batch_size
from ordinate.models import build_model


class Budget(Kind):
    """Every recipe spends the same of something; `within` is the share by which they may differ."""

    within: float = Field(0.0, ge=0, description="share by which recipes may differ, such as 0.05")

    settings: ClassVar[str]
    """The settings that decide it, for errors."""

    @abstractmethod
    def spent(self, recipe: Recipe) -> int:
        """What one seed of a recipe spends."""

    def check(self, recipes: Sequence[Recipe]) -> None:
        """Refuse recipes that differ by more than is allowed."""
        spent = {recipe.name: self.spent(recipe) for recipe in recipes}
        least, most = min(spent, key=spent.__getitem__), max(spent, key=spent.__getitem__)
        if spent[most] <= spent[least] * (1 + self.within):
            return
        allowed = f", within {self.within:g}" if self.within else ""
        raise OrdinateError(
            f"the budget is equal {self.name}{allowed}, but {most!r} spends {spent[most]} and {least!r} "
            f"{spent[least]}: change {self.settings}, or write budget = {{kind = {self.name!r}, within = "
            f"{self._enough(spent[least], spent[most]):g}}}"
        )

    @staticmethod
    def _enough(least: int, most: int) -> float:
        """The next hundredth that would allow it."""
        return -(-100 * (most - least) // least) / 100


class EqualSamples(Budget):
    """Samples seen in training: steps times batch."""

    name: ClassVar[str] = "samples"
    summary: ClassVar[str] = "samples seen in training"
    settings: ClassVar[str] = "training.steps or training.batch"

    def spent(self, recipe: Recipe) -> int:  # noqa: D102
        training = recipe.training
        return training.steps * batch_size(recipe.task, training.batch, training.samples)


class EqualSteps(Budget):
    """Steps of the optimiser."""

    name: ClassVar[str] = "steps"
    summary: ClassVar[str] = "steps of the optimiser"
    settings: ClassVar[str] = "training.steps"

    def spent(self, recipe: Recipe) -> int:  # noqa: D102
        return recipe.training.steps


class EqualParameters(Budget):
    """Numbers that are trained."""

    name: ClassVar[str] = "parameters"
    summary: ClassVar[str] = "numbers that are trained"
    settings: ClassVar[str] = "model.width, model.hidden or model.layers"

    def spent(self, recipe: Recipe) -> int:  # noqa: D102
        model = build_model(recipe.model, recipe.task, seed=0)
        return sum(parameter.numel() for parameter in model.parameters())


BUDGETS: dict[str, type[Budget]] = {kind.name: kind for kind in (EqualSamples, EqualSteps, EqualParameters)}
"""The one table of budgets."""
