"""The models of the package are what their cards say."""

import hashlib
import math
from pathlib import Path

import pytest

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation import sweep
from ordinate.lab.training import Recipe, load_model
from ordinate.lab.zoo import cards, load_card, open_model
from ordinate.lab.zoo.cards import FOLDER
from ordinate.lab.zoo.suite import places, score
from tests.test_documents import python_blocks

ROOT = Path(__file__).parents[3]


TRAINED = [card for card in cards() if card.recipe is not None]
COMPILED = [card for card in cards() if card.program is not None]


def test_the_models_of_the_package():
    assert [card.name for card in TRAINED] == [
        "addition-absolute",
        "addition-relation",
        "multiplication-1",
        "sort-positional",
        "sum-positional",
    ]
    assert [card.name for card in COMPILED] == ["compiled-adder", "compiled-sorter"]
    assert sum(file.stat().st_size for file in FOLDER.glob("*/*.safetensors")) < 20_000_000


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.name)
class TestCards:
    def test_the_weights_are_small_and_those_of_the_card(self, card):
        files = {"model.safetensors": card.sha256, **card.checkpoints}
        assert {file.name for file in (FOLDER / card.name).glob("*.safetensors")} == set(files)
        for name, sha256 in files.items():
            data = (FOLDER / card.name / name).read_bytes()
            assert len(data) < 1_000_000
            assert hashlib.sha256(data).hexdigest() == sha256
        assert sum(p.numel() for p in open_model(card.name).parameters()) == card.parameters

    def test_it_was_made_by_committed_code(self, card):
        assert card.environment["dirty"] is False

    def test_scores_of_the_suite_are_there(self, card):
        assert [(point["axis"], point["value"]) for point in card.suite] == places(card.task)
        assert card.suite[0]["in_distribution"]


@pytest.mark.parametrize("card", TRAINED, ids=lambda card: card.name)
class TestTrained:
    def test_the_recipe_is_the_committed_one(self, card):
        (path,) = (word for word in card.command.split() if word.endswith(".toml"))
        assert Recipe.read(ROOT / path).to_dict() == card.recipe
        assert (card.step, card.seed) == (card.recipe["training"]["steps"], 0)

    def test_a_score_comes_out_again(self, card):
        first = card.suite[0]
        if "mse" in first:
            assert score(open_model(card.name), card.task)[0]["mse"] == pytest.approx(first["mse"], rel=1e-3)
            return
        (point,) = sweep(open_model(card.name), card.task, "length", [20], count=100, seed=5)
        stored = card.scores["length=20"]
        assert abs(point.accuracy - stored) <= 4 * math.sqrt(stored * (1 - stored) / 100) + 0.02


def test_a_training_can_be_followed():
    card = load_card("sort-positional")
    assert list(card.checkpoints) == [f"step-{step:08d}.safetensors" for step in range(500, 4000, 500)]
    models = [load_model(FOLDER / card.name / name) for name in (*card.checkpoints, "model.safetensors")]
    errors = [score(model, card.task)[0]["mse"] for model in (models[0], models[-1])]
    assert errors[1] < errors[0] / 2


def test_what_is_compiled_is_exact():
    for card in COMPILED:
        assert (card.suite[0]["accuracy"], card.suite[0]["mse"]) == (1, 0)


def test_one_carries_addition_on_and_the_other_does_not():
    relation, absolute = load_card("addition-relation"), load_card("addition-absolute")
    assert min(relation.scores["validation"], absolute.scores["validation"]) > 0.99
    assert relation.scores["length=1000"] > 0.9
    assert absolute.scores["length=20"] == 0


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(OrdinateError, match="did you mean 'addition-relation'"):
        load_card("addition-realtion")


def test_the_code_of_the_docs_works(capsys):
    names: dict = {}
    (code,) = python_blocks("docs/page.md")
    exec(code, names)
    assert (names["found"].answer, names["found"].correct) == ("4218", True)
    assert capsys.readouterr().out.endswith("4218 4218\n")
