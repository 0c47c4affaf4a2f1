"""Searches: Optuna proposes recipes, sees how they score, and proposes better ones.

Recipes are proposed some at a time, and their scores are told in the order of the proposals. So the course of a search
depends on its settings alone, not on the number of workers: one that was stopped proposes the same again, finds the
runs in the store, and goes on.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, model_validator
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Run, recipe_key
from ordinate.lab.studies.grid import Document, multiply
from ordinate.lab.studies.study import Rounds, Source
from ordinate.lab.training import Recipe
from ordinate.lab.training.recipe import Part, set_dotted


@dataclass(frozen=True)
class Search(Source):
    """A search for the recipe with the least error.

    `propose` is given a trial of Optuna and returns a recipe; `score` is the point at which the median error over
    seeds is made small; `together` recipes are proposed at a time.

    >>> def propose(trial):                                                     # doctest: +SKIP
    ...     width = trial.suggest_int("width", 8, 64, step=8)
    ...     return Recipe(name="sum", task=task, model=Positional(width=width))
    >>> Search(propose, score="scale=10", trials=20)                            # doctest: +SKIP
    """

    propose: Callable[[Any], Recipe]
    score: str
    trials: int = 20
    together: int = 4
    seed: int = 0
    edges: Sequence[Recipe] = ()
    """Recipes at the edges of what is searched, to be checked before anything is trained."""

    def __post_init__(self) -> None:
        for name, value in (("trials", self.trials), ("together", self.together)):
            if value < 1:
                raise OrdinateError(f"a search cannot have {name} = {value}: write 1 or more")

    @property
    @override
    def needs(self) -> Sequence[str]:  # type: ignore[override]
        return (self.score,)

    @override
    def known(self) -> list[Recipe]:
        return list(self.edges)

    @override
    def rounds(self) -> Rounds:
        """Proposals, `together` at a time; one that was proposed before is not trained again under another name."""
        optuna = need_optuna()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        sampler = optuna.samplers.TPESampler(seed=self.seed)
        study = optuna.create_study(sampler=sampler)
        known: dict[str, Recipe] = {}
        for first in range(0, self.trials, self.together):
            trials = [study.ask() for _ in range(min(self.together, self.trials - first))]
            recipes = []
            for trial in trials:
                recipe = self.propose(trial)
                named = recipe.model_copy(update={"name": f"{recipe.name}-trial-{trial.number}"})
                recipes.append(known.setdefault(recipe_key(recipe.to_dict()), named))
            for trial, runs in zip(trials, (yield recipes), strict=True):
                error = median_error(runs, self.score)
                if math.isfinite(error):
                    study.tell(trial, error)
                else:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)


def median_error(runs: Sequence[Run], point: str) -> float:
    """The median over seeds of the mean error at a point; a seed that failed is infinitely bad."""
    errors = [
        float(run.load_arrays("errors")[point].double().mean()) if run.status == "done" else math.inf
        for run in runs
    ]
    return statistics.median(errors)


class Range(Part):
    """Numbers from low to high; whole ones where both ends are."""

    low: int | float
    high: int | float
    log: bool = Field(False, description="search the logarithm")
    step: int | float | None = Field(None, gt=0, description="only multiples of this above low")

    @model_validator(mode="after")
    def _sound(self) -> "Range":
        if not self.low < self.high:
            raise ValueError(f"must have low below high, got {self.low} and {self.high}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("must have low above 0 and no step where log is true")
        return self

    @property
    def edges(self) -> list[Any]:
        """Both ends."""
        return [self.low, self.high]

    def suggest(self, trial: Any, key: str) -> Any:
        """Let Optuna choose a number."""
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(key, self.low, self.high, step=int(self.step or 1), log=self.log)
        return trial.suggest_float(key, self.low, self.high, step=self.step, log=self.log)


class Choices(Part):
    """A few values: numbers, names or tables."""

    values: tuple[Any, ...] = Field(min_length=1)

    @property
    def edges(self) -> list[Any]:
        """All values."""
        return list(self.values)

    def suggest(self, trial: Any, key: str) -> Any:
        """Let Optuna choose one by its place, which also works for tables."""
        return self.values[trial.suggest_categorical(key, list(range(len(self.values))))]


@dataclass(frozen=True)
class Space:
    """A base and what of it is searched, by dotted keys: the `propose` of a search that a TOML file declares."""

    base: Document
    keys: Mapping[str, Range | Choices]

    def __call__(self, trial: Any) -> Recipe:
        """The recipe of a trial."""
        (document,) = multiply(self.base, [], {})
        for key, values in self.keys.items():
            set_dotted(document, key, values.suggest(trial, key))
        return Recipe.parse(document)

    def edges(self) -> list[Recipe]:
        """Recipes with one key at an end of its range, or at one of its choices, and the others at their first."""
        first = {key: values.edges[0] for key, values in self.keys.items()}
        documents = []
        for key, values in self.keys.items():
            for value in values.edges:
                (document,) = multiply(self.base, [], {k: [v] for k, v in {**first, key: value}.items()})
                documents.append(document)
        return [Recipe.parse(document) for document in documents]


def need_optuna() -> Any:
    """Return optuna, which the extra `search` installs."""
    try:
        import optuna
    except ImportError:
        raise OrdinateError("a search needs Optuna: write pip install 'ordinate[search]'") from None
    return optuna
