"""Where the recipes of a study come from: a list that is known before, or a search that looks at results."""

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from typing import TypeAlias

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Run, recipe_key
from ordinate.lab.training import Recipe

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

    def known(self) -> list[Recipe]:
        """All of them."""
        return self.recipes

    def rounds(self) -> Rounds:
        """All at once, whatever they score."""
        yield self.recipes
