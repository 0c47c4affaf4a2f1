"""Studies as files: TOML, or a Python file that is run because a person named it."""

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from ordinate.errors import OrdinateError, explain
from ordinate.lab.plugins import run_file
from ordinate.lab.studies.grid import Document, merged, multiply
from ordinate.lab.studies.plan import StudyPlan
from ordinate.lab.studies.search import Choices, Range, Search, Space
from ordinate.lab.studies.study import Listed, Source
from ordinate.lab.training import Recipe
from ordinate.lab.training.recipe import Part, read_toml

P = TypeVar("P", bound=BaseModel)


class SearchTable(Part):
    """The table `[search]`: what Optuna may change, and what it makes small."""

    score: str = Field(description="point at which the error is made small, such as 'scale=10'")
    trials: int = Field(20, ge=1)
    together: int = Field(4, ge=1, description="recipes proposed at a time")
    seed: int = Field(0, ge=0)
    space: dict[str, Any] = Field(min_length=1, description="dotted keys: a list of values, or low and high")


class StudyFile(Part):
    """A TOML file: the settings of a `StudyPlan`, and recipes as a base with changes, a grid or a search."""

    name: str
    seeds: Any
    budget: Any
    success: float = 0.9
    compare: dict[str, Any] = Field(default_factory=dict)
    base: str | dict[str, Any] = Field(default_factory=dict, description="a recipe, or the path of one")
    recipes: list[dict[str, Any]] = Field(default_factory=list, description="changes to the base")
    grid: dict[str, list[Any]] = Field(default_factory=dict, description="dotted keys with lists of values")
    search: SearchTable | None = None


def read_plan(path: Path) -> StudyPlan:
    """Read the study in a file, and check it."""
    if not path.is_file():
        raise OrdinateError(f"there is no study {str(path)!r}: write the path of a .toml or .py file")
    readers = {".toml": _read_toml, ".py": _read_python}
    if path.suffix not in readers:
        raise OrdinateError(f"{path} is no study: write the path of a .toml or .py file")
    plan = readers[path.suffix](path)
    plan.check()
    return plan


def _read_python(path: Path) -> StudyPlan:
    """Run the file and take the plan it defines."""
    found = {id(value): value for value in vars(run_file(str(path.resolve()))).values()}
    plans = [value for value in found.values() if isinstance(value, StudyPlan)]
    if len(plans) != 1:
        many = "no plan" if not plans else f"{len(plans)} plans"
        raise OrdinateError(f"{path} holds {many}: write one, plan = StudyPlan(name=..., recipes=[...], ...)")
    return plans[0]


def _read_toml(path: Path) -> StudyPlan:
    file = _parsed(StudyFile, read_toml(path, "the study"))
    base = read_toml(path.parent / file.base, "the base") if isinstance(file.base, str) else file.base
    base = merged({"name": file.name}, base)
    settings = {key: getattr(file, key) for key in ("name", "seeds", "budget", "success", "compare")}
    return _parsed(StudyPlan, {**settings, "recipes": _source(file, base)})


def _source(file: StudyFile, base: Document) -> Source:
    if file.search is None:
        return Listed([_recipe(document) for document in multiply(base, file.recipes, file.grid)])
    if file.recipes or file.grid:
        raise OrdinateError("a study has a search, or recipes and a grid: leave one of them out")
    space = Space(base, {key: _values(key, value) for key, value in file.search.space.items()})
    table = file.search
    return Search(space, table.score, table.trials, table.together, table.seed, edges=tuple(space.edges()))


def _values(key: str, value: Any) -> Range | Choices:
    """What a key of the space may be."""
    where = f"search.space.{key}"
    if isinstance(value, list):
        return _parsed(Choices, {"values": value}, where)
    if isinstance(value, dict):
        return _parsed(Range, value, where)
    raise OrdinateError(
        f"{where} = {value!r} is not allowed: write a list of values, or {{low = 1, high = 9}}"
    )


def _recipe(document: Document) -> Recipe:
    try:
        return Recipe.parse(document)
    except OrdinateError as error:
        raise OrdinateError(f"recipe {document['name']!r}: {error}") from None


def _parsed(kind: type[P], document: dict[str, Any], where: str = "") -> P:
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise explain(error, where, kind) from None
