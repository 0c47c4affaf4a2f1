"""The plan of a study: recipes, seeds and comparisons, and the budget that all of its recipes share."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, ConfigDict, Field, SerializeAsAny
from typing_extensions import override

from ordinate.errors import OrdinateError, nearest
from ordinate.kinds import Kind, choose
from ordinate.lab.studies.study import Listed, Source
from ordinate.lab.training import Recipe
from ordinate.lab.training.data import batch_size
from ordinate.lab.training.measured import check_measured
from ordinate.lab.training.recipe import Part
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


class EqualSamples(
    Budget, name="samples", summary="samples seen in training", settings="training.steps or training.batch"
):
    """Samples seen in training: steps times batch."""

    @override
    def spent(self, recipe: Recipe) -> int:
        training = recipe.training
        return training.steps * batch_size(recipe.task, training.batch, training.samples)


class EqualSteps(Budget, name="steps", summary="steps of the optimiser", settings="training.steps"):
    """Steps of the optimiser."""

    @override
    def spent(self, recipe: Recipe) -> int:
        return recipe.training.steps


class EqualParameters(
    Budget,
    name="parameters",
    summary="numbers that are trained",
    settings="model.width, model.hidden or model.layers",
):
    """Numbers that are trained."""

    @override
    def spent(self, recipe: Recipe) -> int:
        model = build_model(recipe.model, recipe.task, seed=0)
        return sum(parameter.numel() for parameter in model.parameters())


BUDGETS: dict[str, type[Budget]] = {kind.name: kind for kind in (EqualSamples, EqualSteps, EqualParameters)}
"""The one table of budgets."""


class Compare(Part):
    """What is compared with what, and where."""

    at: tuple[str, ...] = Field(
        (), description="points such as 'scale=10'; default the last one of the recipes"
    )
    baseline: str | None = Field(None, description="compare all with this recipe, instead of all pairs")


def _seeds(value: Any) -> Any:
    """A count is that many seeds from 0 on."""
    seeds = tuple(range(value)) if isinstance(value, int) and not isinstance(value, bool) else value
    if isinstance(seeds, Iterable) and not (seeds := tuple(seeds)):
        raise ValueError("write how many, 1 or more, or a list of them")
    return seeds


def _source(value: Any) -> Any:
    return Listed(value) if isinstance(value, Iterable) else value


class StudyPlan(Part):
    """Recipes, each trained with the same seeds under one budget.

    >>> from ordinate.lab.architectures import Positional
    >>> from ordinate.lab.tasks import make_task
    >>> recipes = [
    ...     Recipe(name=f"width-{width}", task=make_task("sum", length=4), model=Positional(width=width))
    ...     for width in (8, 16)
    ... ]
    >>> StudyPlan(name="widths", recipes=recipes, seeds=3, budget="samples").seeds
    (0, 1, 2)
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)
    recipes: Annotated[Source, BeforeValidator(_source)]
    """A list of recipes, or a `Search`."""
    seeds: Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_seeds)]
    """How many, or a list."""
    budget: Annotated[SerializeAsAny[Budget], BeforeValidator(lambda v: choose(v, BUDGETS, "budget"))]
    success: float = Field(
        0.9, gt=0, le=1, description="share of right answers from which on a seed has succeeded at a point"
    )
    compare: Compare = Compare()

    def check(self, recipes: list[Recipe] | None = None) -> None:
        """Refuse, before anything is trained, recipes that break the budget or cannot be measured or compared."""
        recipes = self.recipes.known() if recipes is None else recipes
        if not recipes:
            return
        if len(set(self.seeds)) < len(self.seeds):
            raise OrdinateError(f"seeds = {list(self.seeds)} names one twice: write each once")
        self.budget.check(recipes)
        points = {point for recipe in recipes for point in points_of(recipe)}
        for point in self.compare.at:
            if point not in points:
                raise OrdinateError(
                    f"compare.at: no recipe is measured at {point!r}; {nearest(point, points)}"
                )
        for recipe in recipes:
            for point in set(self.recipes.needs) - set(points_of(recipe)):
                hint = nearest(point, points_of(recipe))
                raise OrdinateError(
                    f"the score of the search: {recipe.name!r} is not measured at {point!r}; {hint}"
                )
        names = {recipe.name for recipe in recipes}
        if self.compare.baseline is not None and self.compare.baseline not in names:
            hint = nearest(self.compare.baseline, names)
            raise OrdinateError(f"compare.baseline: there is no recipe {self.compare.baseline!r}; {hint}")
        for recipe in recipes:
            check_measured(recipe, build_model(recipe.model, recipe.task, seed=0))

    def points(self, recipes: list[Recipe]) -> list[str]:
        """Where recipes are compared."""
        return list(self.compare.at) or [points_of(recipes[0])[-1]]


def points_of(recipe: Recipe) -> list[str]:
    """Names of the points at which a recipe is measured, as its runs store them.

    >>> from ordinate.lab.architectures import Positional
    >>> from ordinate.lab.tasks import make_task
    >>> recipe = Recipe(name="sum", task=make_task("sum"), model=Positional())
    >>> points_of(recipe)
    ['validation']
    """
    axes = recipe.evaluation.axes.items()
    return ["validation", *(f"{axis}={value:g}" for axis, values in axes for value in values)]
