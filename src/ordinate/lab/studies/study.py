"""Studies: recipes x seeds -> runs. Recipes are a list that is known before, or a search that looks at results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.statistics import split_failed
from ordinate.lab.runs import Engine, Job, OnEvent, Outcome, Run, Store, recipe_key
from ordinate.lab.training import Recipe, train

Rounds: TypeAlias = Generator[list[Recipe], list[list[Run]], None]
"""Gives the recipes to train next, and is sent the runs of each."""


class Source(ABC):
    """Recipes of a study, round by round."""

    needs: Sequence[str] = ()
    """Points at which every recipe must be measured."""

    @abstractmethod
    def known(self) -> list[Recipe]:
        """Recipes to check before anything is trained."""

    @abstractmethod
    def rounds(self) -> Rounds:
        """The recipes of one round after the other; what a round is does not depend on who trains it, or when."""


class Listed(Source):
    """Recipes that are all known before; they make one round."""

    def __init__(self, recipes: Iterable[Recipe]) -> None:
        self.recipes = list(recipes)
        if not self.recipes:
            raise OrdinateError("a study needs recipes: write one or more")
        names: set[str] = set()
        keys: dict[str, str] = {}
        for recipe in self.recipes:
            if recipe.name in names:
                raise OrdinateError(f"two recipes are named {recipe.name!r}: give each a name of its own")
            same = keys.setdefault(recipe_key(recipe.to_dict()), recipe.name)
            if same != recipe.name:
                raise OrdinateError(f"recipes {same!r} and {recipe.name!r} are the same: leave one out")
            names.add(recipe.name)

    @override
    def known(self) -> list[Recipe]:
        return self.recipes

    @override
    def rounds(self) -> Rounds:
        yield self.recipes


@dataclass(frozen=True)
class Study:
    """Recipes, each trained with the same seeds, in a store of their own."""

    recipes: tuple[Recipe, ...]
    seeds: tuple[int, ...]
    store: Path
    fewer: Mapping[str, int] = field(default_factory=dict)
    """How many of the seeds a recipe takes, by its name, where it is not all of them."""
    calls: Mapping[str, Callable[..., str]] = field(default_factory=dict)
    """What trains a recipe, by its name, where it is not `train_job`; called as that is."""

    def seeds_of(self, recipe: Recipe) -> tuple[int, ...]:
        """The seeds of a recipe."""
        return self.seeds[: self.fewer.get(recipe.name, len(self.seeds))]

    def jobs(self) -> list[Job]:
        """What is still to be trained: one job a recipe and seed, the longest recipes first."""
        store = Store(self.store)
        folder = str(self.store.resolve())  # a worker elsewhere need not be where this process is
        todo = [
            (recipe, seed)
            for recipe in self.recipes
            for seed in self.seeds_of(recipe)
            if store.open(recipe.to_dict(), seed).status not in ("done", "failed")
        ]
        todo.sort(key=lambda pair: -_work(pair[0]))
        return [
            Job(
                f"{recipe.name} seed {seed}",
                self.calls.get(recipe.name, train_job),
                {"recipe": recipe.to_dict(), "seed": seed, "store": folder},
            )
            for recipe, seed in todo
        ]

    def run(self, engine: Engine, on_event: OnEvent | None = None) -> list[Outcome]:
        """Train what is not trained yet; a seed that fails does not stop the others."""
        return engine.run(self.jobs(), on_event)

    def runs(self, recipe: Recipe) -> list[Run]:
        """The runs of a recipe, in the order of the seeds."""
        store = Store(self.store)
        return [store.open(recipe.to_dict(), seed) for seed in self.seeds_of(recipe)]


def train_job(*, recipe: dict[str, Any], seed: int, store: str, report: Callable[..., None]) -> str:
    """Train one seed of a recipe in a worker, going on where an earlier worker stopped."""
    return train(Recipe.parse(recipe), [seed], store=store, resume=True, report=report)[0].id


def errors_at(runs: Sequence[Run], point: str) -> tuple[Float[ndarray, "seed sample"], int]:
    """Squared errors of every sample at a point, for the seeds that ended, and how many seeds failed."""
    arrays = [run.load_arrays("errors")[point].numpy() for run in runs if run.status == "done"]
    lost = len(runs) - len(arrays)
    if not arrays:
        return np.empty((0, 0)), lost
    errors, failed = split_failed(np.stack(arrays).astype(np.float64))
    return errors, failed + lost


def scores_at(runs: Sequence[Run], point: str) -> list[float]:
    """Mean squared error at a point for every seed; NaN for a seed that failed."""
    return [float(run.record()["scores"][point]) if run.status == "done" else float("nan") for run in runs]


def _work(recipe: Recipe) -> float:
    """How long a training takes, roughly: standard attention costs more than twice the positional one."""
    cost = {"positional": 1.0}.get(recipe.model.name, 2.4)
    return cost * recipe.training.steps * recipe.training.batch
