"""Figure `beyond/proven`: what is said of seeds that are proven, of others, and of a million nines."""

import pytest
import torch

from ordinate.lab.training import Recipe, train
from ordinate.papers import FIGURES
from ordinate.papers.beyond.proven import (
    ARITHMETIC,
    FIRST_SEED,
    LANGUAGES,
    Proofs,
    Row,
    caption,
    draw,
    nines,
    table,
)
from tests.lab.proofs.built import adder
from tests.papers.inline import Inline

FIGURE = FIGURES["beyond/proven"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return FIGURE.reproduce("smoke", tmp_path_factory.mktemp("proven"), engine=Inline())


def test_an_untrained_adder_is_wrong_and_the_document_says_where(made):
    [run] = made.document["machines"]["addition"]
    assert run["seed"] == FIRST_SEED
    assert run["verdict"] == "counterexample"
    assert 1 <= run["wrong_at"] <= 5
    assert run["million"] is False
    assert made.table[1][0][1:3] == ["0 of 1", f"wrong at {run['wrong_at']}"]
    assert made.claims == []


def run_of(verdict, seconds=2.0, wrong_at=None, million=None):
    return {
        "verdict": verdict,
        "wrong_at": wrong_at,
        "states": 4,
        "parameters": 10,
        "seconds": seconds,
        "million": million,
        "scores": {"validation": 1.0, "length=1000": 0.5},
    }


def test_every_seed_is_counted_failed_ones_too():
    runs = [
        run_of("proven", million=True),
        run_of("counterexample", wrong_at=33),
        run_of("failed", seconds=None),
    ]
    document = {"machines": {"parity": runs}}
    assert table(document["machines"])["rows"][0] == [
        "parity",
        "1 of 3",
        "wrong at 33, failed",
        "4 to 4",
        "10",
        "2",
        "1 of 1",
    ]
    assert "1 of 3 models" in caption(document)
    drawn = [text.get_text() for text in draw(document).axes[0].texts]
    assert drawn == ["100%", "50%", "33%"] or drawn == ["100", "50", "33"]


def test_a_claim_counts_seeds_that_are_not_proven_as_such():
    claim = Proofs((), claims=True)._claim
    all_but_one = [run_of("proven")] * 9 + [run_of("failed")]
    assert claim("parity", all_but_one, "laptop").verdict == "contradicted"
    assert claim("first", all_but_one, "laptop").verdict == "supported"


def test_seeds_are_none_of_those_that_settings_were_chosen_on(tmp_path):
    study = FIGURE.study("laptop", tmp_path)
    seeds = {recipe.name: study.seeds_of(recipe) for recipe in study.recipes}
    assert len(seeds) == len(ARITHMETIC) + len(LANGUAGES)
    assert all(min(drawn) == FIRST_SEED for drawn in seeds.values())
    assert {len(drawn) for drawn in seeds.values()} == {5, 10}


def test_nines_are_asked_of_adders_alone(tmp_path, monkeypatch):
    from ordinate.papers.beyond import proven

    few = ("training.steps=2", "training.samples=20", "evaluation.count=4", "evaluation.axes.length=[6]")
    for machine, wanted in (("addition", True), ("subtraction", None)):
        recipe = Row(machine, 1, "proven-addition").recipe(*few)
        assert isinstance(recipe, Recipe)
        [run] = train(recipe, [0], store=str(tmp_path))
        monkeypatch.setattr(proven, "load_model", lambda run: adder().to(torch.float32))
        assert nines(run, 3000) is wanted


@pytest.mark.parametrize("scale", FIGURE.scales)
def test_every_scale_describes_recipes_that_can_be_written_and_read(scale, tmp_path):
    study = FIGURE.study(scale, tmp_path)
    for recipe in study.recipes:
        assert Recipe.parse(recipe.to_dict()) == recipe
        assert max(recipe.task.lengths()) <= 17
    assert FIGURE.plan(scale).claims == (scale == "laptop")
