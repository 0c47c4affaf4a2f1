"""Beyond the papers: figures that measure far past the trained lengths, from training to verdicts."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ordinate.lab.training import Recipe
from ordinate.papers import FIGURES, rewrite_report
from ordinate.papers.aims import at_least, at_most
from ordinate.papers.beyond import addition
from ordinate.papers.beyond.addition import absolute, related
from ordinate.papers.curves import Curve, Curves
from ordinate.relations import aligned, window
from tests.papers.inline import Inline

BEYOND = {name: figure for name, figure in FIGURES.items() if name.startswith("beyond/")}
FIGURE = FIGURES["beyond/addition-1000"]


def tiny(name):
    small = {"layers": 1, "width": 16, "hidden": 16, "count": 20, "lengths": (10.0, 100.0)}
    told = related("relation", addition.TASK, addition.RELATION, 3, cascades=(1.0, 20.0), **small)
    return Curves(
        (
            Curve(told, 3, "positional", "told all"),
            Curve(absolute(addition.TASK, 3, **small), 2, "baseline", "nothing"),
        ),
        (
            at_least("relation", "length=100", 0.5, "Half is right."),
            at_most("sinusoidal", "validation", 0.5, "Half is wrong."),
            at_most("relation", "seconds", 1000.0, "It is fast."),
        ),
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A real, tiny study at a scale that may give verdicts."""
    out = tmp_path_factory.mktemp("out")
    return out, replace(FIGURE, plan=tiny).reproduce("laptop", out, engine=Inline())


def test_the_document_has_every_seed_axis_and_fact(made):
    _, result = made
    document = json.loads(result.files["json"].read_text())
    relation, other = document["curves"]["relation"], document["curves"]["sinusoidal"]
    assert relation["axes"]["length"]["x"] == [5, 10, 100]
    assert np.array(relation["axes"]["length"]["values"]).shape == (3, 3)
    assert np.array(relation["axes"]["cascade"]["values"]).shape == (3, 2)
    assert np.array(other["axes"]["length"]["values"]).shape == (2, 3)
    assert relation["knowledge"] == "told all"
    assert relation["averaged"]
    assert relation["samples_seen"] == 3 * 128
    assert document["table"]["headers"][:4] == ["model", "parameters", "samples seen", "seconds"]


def test_verdicts_come_from_medians_and_enough_seeds(made):
    _, result = made
    assert [claim.verdict for claim in result.claims] == ["contradicted", "inconclusive", "supported"]


def test_report_names_the_knowledge_and_can_be_drawn_again(made):
    out, result = made
    page = result.files["html"].read_text()
    assert "told all" in page
    assert "averaged weights" in page
    again = rewrite_report(out / "beyond" / "addition-1000-laptop")
    assert again.document == result.document


@pytest.mark.parametrize("name", [name for name in BEYOND if name != "beyond/proven"])
def test_every_scale_describes_recipes_that_can_be_written_and_read(name):
    figure = BEYOND[name]
    assert {"smoke", "laptop"} <= set(figure.scales)
    for scale in figure.scales:
        setting = figure.plan(scale)
        for curve in setting.curves:
            assert Recipe.parse(curve.recipe.to_dict()) == curve.recipe
            assert max(curve.recipe.task.lengths()) == 5
        for aim in setting.aims:
            curve = next(curve for curve in setting.curves if curve.label == aim.at.curve)
            points = [f"{axis}={v:g}" for axis, vs in curve.recipe.evaluation.axes.items() for v in vs]
            assert aim.at.point in [*points, "validation", "seconds"]
            assert curve.seeds >= 3
        assert bool(setting.aims) == (scale == "laptop")


def test_the_shipped_recipe_is_the_one_that_was_measured():
    """The file that a person edits and the curve of the figure train the same model."""
    shipped = Recipe.read(Path(__file__).parents[2] / "recipes" / "addition-1000.toml")
    (measured,) = (c.recipe for c in FIGURE.plan("laptop").curves if c.label == "relation")
    assert (shipped.task, shipped.model, shipped.training) == (
        measured.task,
        measured.model,
        measured.training,
    )


def test_the_discovered_relation_needs_no_more_than_the_task_shows():
    relation = addition.discovered()
    assert relation == aligned("first", "second") * window(back=3)
