"""Trained figures of the second paper: recipes, claims and shared runs at every scale, and a real small run."""

import json
import math
from pathlib import Path

import pytest
import torch

from ordinate.attention import Content, ContentClass
from ordinate.lab.report.style import look_of
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe
from ordinate.lab.training.measured import check_measured
from ordinate.models import build_model
from ordinate.papers import FIGURES
from ordinate.papers.aims import Beats, Point
from ordinate.papers.curves import Curves
from ordinate.papers.symmetry.addition import relative_sums
from ordinate.papers.symmetry.models import DIFFERS, SCALES
from ordinate.papers.symmetry.multiplication import products
from ordinate.papers.symmetry.places import shifted_set
from ordinate.papers.symmetry.variants import declared_products, declared_sums
from ordinate.papers.symmetry.vectors import FIGURES as MAPS
from ordinate.papers.symmetry.vectors import dispersion, energies, less_start

TRAINED = {
    name: figure
    for name, figure in FIGURES.items()
    if name.startswith("symmetry/") and figure.plan is not None
}
CURVES = {name: figure for name, figure in TRAINED.items() if isinstance(figure.plan("smoke"), Curves)}


def test_every_trained_figure_and_table_of_the_paper_is_there():
    parts = {"2": "abc", "4": "abc", "5": "abcd", "7": "ab", "8": "abc"}
    wanted = [f"{number}{part}" for number, letters in parts.items() for part in letters]
    assert set(TRAINED) == {
        "symmetry/table-1",
        "symmetry/search-lines",
        *(f"symmetry/fig-{name}" for name in (*wanted, "10", "11", "12")),
        *(f"symmetry/{kind}-{name}" for kind in ("declared", "search") for name in ("sums", "products")),
    }


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CURVES)
def test_aims_name_curves_and_points_that_are_measured(name, scale):
    setting = CURVES[name].plan(scale)
    measured = {
        curve.label: {
            "validation",
            *(
                f"{axis}={value:g}"
                for axis, values in curve.recipe.evaluation.axes.items()
                for value in values
            ),
        }
        for curve in setting.curves
    }
    assert setting.aims
    for aim in setting.aims:
        assert aim.search is None or aim.search in FIGURES
        named = [value for value in vars(aim).values() if isinstance(value, Point)]
        if isinstance(aim, Beats):
            named = [Point(curve, point) for curve in (aim.better, aim.worse) for point in aim.points]
        assert named
        assert all(point in measured[curve] for curve, point in named)
        assert aim.sentence.endswith(".")


@pytest.mark.parametrize("name", CURVES)
def test_recipes_can_be_written_and_read_and_reach_every_length(name):
    for curve in CURVES[name].plan("laptop").curves:
        assert Recipe.parse(json.loads(json.dumps(curve.recipe.to_dict()))) == curve.recipe
        assert curve.recipe.training.pick is not None
    for curve in CURVES[name].plan("smoke").curves:
        check_measured(curve.recipe, build_model(curve.recipe.model, curve.recipe.task, seed=0))


def test_paper_scale_is_as_published():
    recipe = relative_sums(SCALES["paper"]).recipe
    model, training = recipe.model, recipe.training
    assert (model.layers, model.heads, model.width, model.dropout) == (6, 8, 768, 0.1)
    assert (training.batch, training.samples, training.optimizer.learning_rate) == (64, 100_000, 1e-4)
    assert len(recipe.task.coordinates(50)) == 101
    hard = products(SCALES["paper"], 3)["upe"].recipe
    assert (hard.model.layers, hard.training.samples) == (9, 500_000)
    assert len(hard.task.coordinates(20)) == 3 + 1 + 23


def test_figures_share_their_models():
    def recipes(*names):
        return [
            {
                json.dumps(r.to_dict(), sort_keys=True)
                for r in TRAINED[f"symmetry/{n}"].study("laptop", Path("x")).recipes
            }
            for n in names
        ]

    for a, b in (("fig-2b", "fig-8a"), ("fig-8a", "fig-8b"), ("fig-2c", "table-1")):
        one, other = recipes(a, b)
        assert one & other
    four_b, four_c, eleven = recipes("fig-4b", "fig-4c", "fig-11")
    assert eleven <= four_b | four_c
    five, twelve = recipes("fig-5b", "fig-12")
    assert five == twelve
    for published, declared in (("fig-8a", "declared-sums"), ("fig-4c", "declared-products")):
        one, other = recipes(published, declared)
        assert len(one & other) == 1
        assert len(other) == 4


@pytest.mark.parametrize(("curves", "told"), [(declared_sums, "rpe"), (declared_products, "upe")])
def test_declared_variants_differ_from_the_published_form_in_keys_and_pairs_alone(curves, told):
    """Forms and relations as said, a look of its own for each, and everything else equal."""
    assert len({curve.look for curve in curves(SCALES["laptop"])}) == 4
    made = {curve.label: curve.recipe for curve in curves(SCALES["laptop"])}
    assert list(made) == [told, "keys", "pairs", "both"]
    forms = {label: recipe.model.attention for label, recipe in made.items()}
    assert forms == {told: Content(), "keys": ContentClass(), "pairs": Content(), "both": ContentClass()}
    published, keys, pairs, both = (recipe.model.encoding for recipe in made.values())
    assert published == keys
    assert pairs == both != keys
    rest = [
        recipe.model_copy(
            update={
                "name": "",
                "model": recipe.model.model_copy(update={"encoding": (), "attention": Content()}),
            }
        )
        for recipe in made.values()
    ]
    assert all(recipe == rest[0] for recipe in rest)


def test_shifted_sums_end_in_zeros_and_are_as_long_as_asked():
    task = make_task("addition", digits=5, width=12, spare=0)
    tests = shifted_set(task, 10, count=50, seed=0)
    batch = tests.batches[0]
    first, second = task.read(batch.input, batch.coordinates)
    assert not first[:, :5].any()
    assert not second[:, :5].any()
    assert not first[:, 10:].any()
    assert first[:, 5:10].any()
    assert torch.equal(batch.target, task.reference(batch.input, batch.coordinates))


def test_dispersion_is_what_it_says():
    spike = torch.zeros(10, 3)
    spike[4] = 1.0
    by_hand = [0.81 * 3, *[0.01 * 3] * 9]
    share = torch.tensor([v / sum(by_hand) for v in by_hand])
    expected = math.exp(-float((share * share.log()).sum())) / 10
    assert dispersion(spike) == pytest.approx(expected, rel=1e-5)
    assert float(energies(spike)[4]) == pytest.approx(0.9, rel=1e-5)
    assert dispersion(spike + 7.0) == pytest.approx(
        expected, rel=1e-3
    )  # softmax does not see a common vector
    start = torch.randn(10, 3, generator=torch.Generator().manual_seed(0))
    left = less_start(0.7 * start + 0.01 * spike, start)
    assert energies(left).argmax() == 4
    assert float((left * start).sum()) == pytest.approx(0, abs=1e-5)
    assert [m.name for m in MAPS] == ["symmetry/fig-11", "symmetry/fig-12"]


@pytest.mark.parametrize(
    ("name", "said", "unsaid"),
    [
        ("fig-2a", ["dropout of 0 for 0.1", "12 places for 20"], ["pairwise", "15 places"]),
        ("fig-2b", ["15 places for 50", "standard deviation of 0.5 for 0.02"], ["zeros"]),
        (
            "fig-5b",
            ["muon", "50% of the multipliers have zeros", "the sign acts alike"],
            ["dropout", "15 places"],
        ),
        ("fig-7b", ["letters for 20", "in text the sign"], []),
        ("fig-8a", ["sums of 9 digits for 40"], []),
        ("fig-10", ["12 places for 20", "decay 0.1"], ["dropout", "standard deviation", "15 places"]),
    ],
)
def test_a_report_says_what_differs_from_the_published_models(name, said, unsaid):
    figure = CURVES[f"symmetry/{name}"]
    told = figure.plan("laptop").settings[DIFFERS]
    assert [part for part in said if part not in told] == []
    assert [part for part in unsaid if part in told] == []
    assert "for 6" not in figure.plan("paper").settings[DIFFERS], "nothing is smaller than published"


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CURVES)
def test_curves_of_a_figure_look_different(name, scale):
    looks = [look_of(curve.look) for curve in CURVES[name].plan(scale).curves]
    assert len(set(looks)) == len(looks)
