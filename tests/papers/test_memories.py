"""Studies beyond the third paper: their plans at every scale, equal parameters, and one of them from end to end."""

import math

import pytest
import torch

from ordinate.models import build_model
from ordinate.papers import FIGURES
from ordinate.papers.aims import Place
from ordinate.papers.memories import language, nesting

from .inline import Inline

NAMES = ("nesting", "heads", "width", "slopes", "biases", "samples", "norms", "exp-1a", "exp-3b")
NEIGHBOURS = ("match-2", "match-3", "sparse-average", "contextual-counting", "hard")


PAPER = ("exp-1b", "exp-2a", "exp-2b", "exp-3a", "exp-4a", "exp-4b", "prop-4.2")


def test_what_was_printed_is_said():
    for name, number in (("exp-2a", "0.49"), ("exp-2b", "1.16"), ("exp-4a", "0.19"), ("exp-1a", "0.802")):
        assert number in FIGURES[f"memories/{name}"].plan("laptop").differs


@pytest.mark.parametrize("name", NAMES + NEIGHBOURS + PAPER)
def test_every_claim_is_about_a_place_of_the_figure(name):
    figure = FIGURES[f"memories/{name}"]
    for scale in figure.scales:
        plan = figure.plan(scale)
        places = {
            (sheet.title, line.label, x)
            for sheet in plan.sheets
            for line in sheet.lines
            for x in (line.spots if hasattr(line, "spots") else line.xs)
        }
        assert plan.aims
        for aim in plan.aims:
            wanted = [value for value in vars(aim).values() if isinstance(value, Place)]
            assert {tuple(place) for place in wanted} <= places
        names = [recipe.name for recipe in plan.recipes]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["exp-4a", "exp-4b", "biases"])
def test_sums_over_all_tokens_are_scored_at_the_last_whose_softmax_has_one_sum(name):
    figure = FIGURES[f"memories/{name}"]
    for scale in figure.scales:
        assert all(recipe.task.last for recipe in figure.plan(scale).recipes)


def test_models_of_all_depths_have_about_as_many_parameters():
    grid = nesting.GRIDS["laptop"]
    task = grid.reaches[0].target(1)
    counts = [
        sum(p.numel() for p in build_model(grid.model(layers), task, seed=0).parameters())
        for layers in grid.layers
    ]
    assert all(math.isclose(count, grid.parameters, rel_tol=0.02) for count in counts)


def test_targets_of_nesting_are_found_one_by_the_other():
    task = nesting.GRIDS["laptop"].reaches[1].target(2)
    batch = task.sample(3, generator=torch.Generator().manual_seed(0))
    memories = task.memories_of(batch.input[..., 0])
    assert memories.shape[-1] == 3
    assert torch.equal(batch.target[..., 0], memories[..., -1])


def test_the_map_of_nesting_has_the_depth_of_the_theorem_as_stairs():
    lines = [
        {
            "label": f"K = {k}",
            "x": [1.0, 2.0, 3.0, 4.0],
            "values": [[1.0, 0.5, 0.25, None], [k, 1.0, 1.0, 1.0]],
        }
        for k in (0, 1, 3)
    ]
    sheet = {"title": "left", "xlabel": "layers", "lines": lines}
    heat = nesting.heat_of(sheet, [2, 3, 5])
    assert heat.steps == [1, 2, 4]
    assert heat.columns == ["1", "2", "3", "4"]
    assert heat.values.shape == (2, 3, 4)
    assert heat.values[1, :, 0].tolist() == [0.0, 1.0, 3.0]
    assert math.isnan(heat.values[0, 2, 3])


@pytest.mark.parametrize("name", ["nesting", "samples"])
def test_a_study_from_end_to_end(name, tmp_path):
    result = FIGURES[f"memories/{name}"].reproduce("smoke", tmp_path, engine=Inline())
    assert result.files["html"].is_file()
    assert {claim.verdict for claim in result.claims} == {None}
    assert not result.document["not_ended"]


@pytest.mark.parametrize("scale", language.SIZES)
@pytest.mark.parametrize("figure", [language.exp_1a, language.exp_3b])
def test_language_models_of_one_place_have_about_as_many_parameters(figure, scale):
    size, (sheet,) = language.SIZES[scale], figure.plan(scale).sheets
    for x in map(float, size.layers):
        for line in sheet.lines:
            model = line.spots[x].recipe.model
            count = sum(p.numel() for p in build_model(model, size.task(), seed=0).parameters())
            dot_product = model.attention.name == "dp"
            assert count == size.parameters(model.layers, model.heads, model.hidden, dot_product=dot_product)
            wanted = size.parameters(int(x), size.heads, size.hidden)
            assert math.isclose(count, wanted, rel_tol=0.02 if scale == "laptop" else 0.2)


def test_language_models_read_the_folder_that_is_named(tmp_path, monkeypatch):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_text("the cat sat on the mat\n" * 40)
    monkeypatch.setenv(language.FOLDER, str(tmp_path / "texts"))
    result = FIGURES["memories/exp-3b"].reproduce("smoke", tmp_path, engine=Inline())
    assert {claim.verdict for claim in result.claims} == {None}
    assert not result.document["not_ended"]
    assert "text files of the folder texts, 829 characters" in result.document["differs"]
    (sheet,) = result.document["sheets"]
    assert all(1 < v < 1000 for line in sheet["lines"] for row in line["values"] for v in row)
    monkeypatch.delenv(language.FOLDER)
    assert "PSF licence" in FIGURES["memories/exp-1a"].plan("smoke").differs


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_every_model_of_the_neighbours_can_be_trained(name):
    """A step of each: losses and gradients are numbers, at both scales."""
    for scale in ("smoke", "laptop"):
        for recipe in FIGURES[f"memories/{name}"].plan(scale).recipes:
            model = build_model(recipe.model, recipe.task, seed=0)
            batch = recipe.task.sample(2, generator=torch.Generator().manual_seed(0))
            output = model(batch.input, batch.coordinates)
            assert output.shape == (*batch.input.shape[:2], recipe.task.outputs)
            output.square().mean().backward()
            assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())
            assert any(p.grad is not None and p.grad.any() for p in model.parameters())


def test_a_neighbour_from_end_to_end(tmp_path):
    result = FIGURES["memories/hard"].reproduce("smoke", tmp_path, engine=Inline())
    assert {claim.verdict for claim in result.claims} == {None}
    assert not result.document["not_ended"]
