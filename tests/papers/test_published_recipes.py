"""Headline settings of other papers: recipes that can be read and built, at the lengths that the papers state."""

from pathlib import Path

import pytest
import torch

from ordinate.lab.training import Recipe
from ordinate.models import build_model
from ordinate.papers import published

ROOT = Path(__file__).parents[2]
RECIPES = sorted(ROOT.glob("recipes/published/*.toml"))
KNOWN = {name: facts for name, facts in published("arena").items() if name != "about"}
TINY = ("model.layers=1", "model.heads=2", "model.width=8", "model.hidden=8")


def test_each_has_a_source_and_each_source_a_recipe():
    assert {path.stem for path in RECIPES} == set(KNOWN)
    assert all("arXiv" in facts["source"] for facts in KNOWN.values())
    assert all(facts["measure"] and facts["number"] for facts in KNOWN.values())


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_it_has_the_lengths_of_the_paper(path):
    recipe, facts = Recipe.read(path), KNOWN[path.stem]
    assert recipe.name == path.stem
    lengths = recipe.evaluation.axes["length"]
    assert lengths[0] == max(recipe.task.lengths())
    for wanted, found in (("trained", lengths[0]), ("tested", lengths[-1]), ("layers", recipe.model.layers)):
        if facts.get(wanted) is not None:
            assert found == facts[wanted]


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_a_small_one_is_built_and_takes_inputs_beyond_training(path):
    recipe = Recipe.read(path, TINY)
    model = build_model(recipe.model, recipe.task, seed=0).eval()
    coordinates = recipe.task.coordinates(min(1024, int(recipe.evaluation.axes["length"][-1])))
    symbols = torch.zeros(1, len(coordinates), dtype=torch.long)  # a corpus would have to be read first
    with torch.no_grad():
        output = model(symbols, coordinates)
    assert output.shape == (1, len(coordinates), recipe.task.outputs)
    assert output.isfinite().all()
