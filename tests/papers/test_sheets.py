"""Figures made of lines: their aims against numbers worked out by hand, and a real small run."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from ordinate.lab.evaluation.claims import AtLeast, AtMost
from ordinate.lab.training.measured import check_measured
from ordinate.models import build_model
from ordinate.papers import FIGURES, rewrite_report
from ordinate.papers.aims import Expresses, Found, Leads, Place, Ratio, Shows, Steeper, Widens
from ordinate.papers.memories import decaying
from ordinate.papers.positional.value_scale import SIZES, recipe_for
from ordinate.papers.sheets import Line, caption_of
from ordinate.papers.theory.biases import LOG_SHIFTED
from tests.papers.inline import Inline

LINES = {name: figure for name, figure in FIGURES.items() if figure.caption is caption_of}


def test_the_figures_of_the_first_paper_are_there():
    wanted = (
        "variable-length",
        "sample-size",
        "input-length",
        "small-models",
        "ablation",
        "rope",
        "accuracy",
        "k-hop",
        "mixed-type",
        "mixed-type-samples",
        "learnability",
        "trade-off",
        "dynamic",
        "graphs",
    )
    assert {f"positional/{name}" for name in wanted} <= set(LINES)


def test_the_trade_off_trains_no_cumulative_sum_of_its_own():
    studies = {
        name: LINES[f"positional/{name}"].study("laptop", Path("x")) for name in ("learnability", "trade-off")
    }
    known = {recipe.name: recipe for recipe in studies["learnability"].recipes}
    sums = [recipe for recipe in studies["trade-off"].recipes if recipe.task.name == "sum"]
    assert len(sums) == 10
    assert all(known[recipe.name] == recipe for recipe in sums)
    other = [recipe for recipe in studies["trade-off"].recipes if recipe.task.name == "min"]
    assert {(r.training, r.model.layers, r.model.name) for r in other} == {
        (r.training, r.model.layers, r.model.name) for r in sums
    }


def test_the_experiments_of_the_third_paper_are_there():
    wanted = ("exp-1b", "exp-2a", "exp-2b", "exp-3a", "exp-4a", "exp-4b", "prop-4.2")
    assert {f"memories/{name}" for name in wanted} <= set(LINES)


XS = (1.0, 2.0, 4.0)


def along(line, xs):
    return tuple(Place("a", line, x) for x in xs)


class Known(Found):
    """Errors that are constant over samples; x is what they are made of."""

    def values(self, place):
        return [math.nan if place.line == "broken" else place.x + seed for seed in range(3)]

    def errors(self, place):
        if place.line == "broken":
            return np.empty((0, 0)), 3
        size = place.x if place.line == "good" else place.x**3
        return np.full((3, 10), size), 0

    def published(self, place):
        return {"good": 2.0, "poor": 8.0}.get(place.line)


def test_a_number_is_judged_by_the_median_over_seeds():
    claim = Shows("It is small.", AtMost(9), Place("a", "good", 4.0)).claim(Known(), "laptop")
    assert (claim.measured.estimate, claim.published, claim.verdict) == (5.0, 2.0, "supported")


def test_a_lead_is_the_difference_of_every_seed():
    aim = Leads("It leads.", AtLeast(2), Place("a", "poor", 6.0), Place("a", "good", 3.0))
    claim = aim.claim(Known(), "laptop")
    assert (claim.measured.estimate, claim.published, claim.verdict) == (3.0, 6.0, "supported")


def test_a_ratio_is_that_of_the_errors():
    aim = Ratio("It is better.", AtLeast(4), Place("a", "good", 2.0), Place("a", "poor", 2.0))
    claim = aim.claim(Known(), "laptop")
    assert claim.measured.estimate == pytest.approx(4)
    assert claim.published == 4.0


def test_a_published_ratio_may_be_given():
    aim = Ratio("It is better.", AtLeast(4), Place("a", "good", 2.0), Place("a", "new", 2.0), 245.0)
    assert aim.claim(Known(), "laptop").published == 245.0


def test_a_gap_that_grows_has_the_exponent_it_has():
    claim = Widens("It grows.", AtLeast(0), along("good", XS), along("poor", XS), XS).claim(Known(), "laptop")
    assert claim.measured.estimate == pytest.approx(2)


def test_exponents_are_those_of_every_seed():
    aim = Steeper("It grows.", AtLeast(0), "a", "good", (1.0, 2.0, 4.0))
    expected = np.polyfit(np.log([1, 2, 4]), np.log([2, 3, 5]), 1)[0]  # the middle one of three seeds
    assert aim.claim(Known(), "laptop").measured.estimate == pytest.approx(expected)
    than = Steeper("It grows faster.", AtLeast(0), "a", "good", (1.0, 2.0, 4.0), than="poor")
    assert than.claim(Known(), "laptop").measured.estimate == 0


@pytest.mark.parametrize(
    "aim",
    [
        Shows("One.", AtLeast(0), Place("a", "broken", 1.0)),
        Leads("Two.", AtLeast(0), Place("a", "good", 1.0), Place("a", "broken", 1.0)),
        Ratio("Three.", AtLeast(0), Place("a", "broken", 1.0), Place("a", "good", 1.0)),
        Widens("Four.", AtLeast(0), along("good", XS), along("broken", XS), XS),
        Steeper("Five.", AtLeast(0), "a", "good", (1.0, 2.0), than="broken"),
    ],
)
def test_seeds_that_failed_decide_nothing(aim):
    claim = aim.claim(Known(), "laptop")
    assert (claim.failed, claim.verdict) == (3, "inconclusive")


def places(aim):
    if isinstance(aim, Widens):
        return [*aim.better, *aim.worse]
    if isinstance(aim, Steeper):
        return [Place(aim.sheet, line, x) for line in (aim.line, aim.than or aim.line) for x in aim.xs]
    return [value for value in vars(aim).values() if isinstance(value, Place)]


@pytest.mark.parametrize(
    ("name", "scale"), [(name, scale) for name, figure in LINES.items() for scale in figure.scales]
)
def test_aims_name_places_that_are_measured(name, scale):
    plan = LINES[name].plan(scale)
    there = {
        Place(s.title, line.label, x)
        for s in plan.sheets
        for line in s.lines
        for x in (line.spots if isinstance(line, Line) else line.xs)
    }
    assert plan.aims
    for aim in plan.aims:
        assert aim.sentence.endswith(".")
        assert places(aim)
        assert set(places(aim)) <= there
    for sheet in plan.sheets:
        for line in (line for line in sheet.lines if isinstance(line, Line)):
            for spot in line.spots.values():
                axes, training = spot.recipe.evaluation.axes, spot.recipe.training
                every = training.checkpoint_every or training.steps
                kept = {f"step={n}" for n in range(every, training.steps + 1, every)}
                measured = {f"{axis}={x:g}" for axis in axes for x in axes[axis]}
                assert spot.point in {"validation"} | measured | kept or spot.point.startswith("rounds=")


@pytest.mark.parametrize("name", LINES)
def test_recipes_can_be_written_and_read(name):
    plan = LINES[name].plan("laptop")
    names = [recipe.name for recipe in plan.recipes]
    assert len(set(names)) == len(names)
    assert plan.seeds >= 3
    for recipe in plan.recipes:
        assert type(recipe).parse(json.loads(json.dumps(recipe.to_dict()))) == recipe
        check_measured(recipe, build_model(recipe.model, recipe.task, seed=0))


@pytest.mark.parametrize(
    ("name", "scale"),
    [("rope", "laptop"), ("rope", "paper"), ("ablation", "paper"), ("small-models", "paper")],
)
def test_runs_are_those_of_the_value_scale_figure_where_they_are_the_same(name, scale):
    recipes = LINES[f"positional/{name}"].plan(scale).recipes
    for model in ("positional", "standard"):
        assert recipe_for("sum", model, scale) in recipes


def test_small_models_are_compared_with_those_of_the_ablation():
    ablation, small = (
        LINES[f"positional/{name}"].plan("laptop").recipes for name in ("ablation", "small-models")
    )
    shared = [recipe for recipe in small if recipe in ablation]
    assert [recipe.name for recipe in shared] == ["sum-M5", "sum-M0", "min-M5", "min-M0"]
    assert len({recipe.training.steps for recipe in (*ablation, *small)}) == 1


def test_paper_scale_is_as_published():
    def first(name):
        return LINES[f"positional/{name}"].plan("paper").recipes[0]

    assert SIZES["paper"].training.steps == 60_030
    variable = first("variable-length")
    assert (variable.training.samples, variable.training.batch) == (500_000, 2048)
    assert variable.training.optimizer.learning_rate == 1e-4
    hops = first("k-hop")
    assert (hops.task.length, hops.training.steps, hops.training.samples) == (98, 100_000, 50_000)
    mixed = first("mixed-type")
    assert (mixed.model.layers, mixed.model.width, mixed.training.schedule.patience) == (3, 32, 10)


def test_what_is_computed_is_claimed_as_exact():
    claim = Expresses("It can.", AtMost(1), Place("a", "exact", 0.5)).claim(Computed(), "laptop")
    assert (claim.exact, claim.verdict) == (True, "supported")


class Computed(Known):
    def values(self, place):
        return [place.x]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A figure, small."""
    return LINES["positional/accuracy"].reproduce("smoke", tmp_path_factory.mktemp("lines"), engine=Inline())


def test_small_runs_give_documents_without_verdicts(made):
    assert made.claims
    assert all(claim.verdict is None for claim in made.claims)
    assert made.files["png"].stat().st_size > 5000
    again = rewrite_report(made.files["json"].parent)
    assert again.document == json.loads(made.files["json"].read_text())


def test_sheets_hold_the_column_they_name(made):
    document = made.document
    sheet = document["sheets"][0]
    assert (sheet["ylabel"], sheet["percent"]) == ("accuracy", True)
    assert all(0 <= v <= 1 for line in sheet["lines"] for row in line["values"] for v in row)
    assert sheet["lines"][0]["published"]["1"] == 0.976
    assert document["table"]["rows"][0][2].endswith("%")


def test_the_report_says_what_differs_and_what_the_published_rotation_did(made):
    assert "leaves all scores as they were" in LINES["positional/rope"].plan("laptop").differs
    figure = LINES["positional/accuracy"]
    assert "no verdict" in " ".join(figure.all_notes(made.document))
    assert "published values" in figure.caption(made.document)


def test_a_light_tail_begins_at_the_token_itself():
    assert decaying.light()[0] == 1.0
    assert "alone leaves 4.5e-05" in decaying.exp_4b.plan("laptop").differs
    assert decaying.least_share(LOG_SHIFTED, decaying.light(), 1) < 4.5e-5  # heads do better than none
