"""The models of the package are what their cards say."""

import hashlib
import math
from pathlib import Path

import pytest

from ordinate.errors import OrdinateError
from ordinate.evaluation import sweep
from ordinate.training import Recipe
from ordinate.zoo import cards, load_card, open_model
from ordinate.zoo.cards import FOLDER
from tests.test_documents import python_blocks

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.name)
class TestCards:
    def test_the_weights_are_small_and_those_of_the_card(self, card):
        data = (FOLDER / card.name / "model.safetensors").read_bytes()
        assert len(data) < 1_000_000
        assert hashlib.sha256(data).hexdigest() == card.sha256
        assert sum(p.numel() for p in open_model(card.name).parameters()) == card.parameters

    def test_the_recipe_is_the_committed_one(self, card):
        (path,) = (word for word in card.command.split() if word.endswith(".toml"))
        assert Recipe.read(ROOT / path).to_dict() == card.recipe
        assert (card.step, card.seed) == (card.recipe["training"]["steps"], 0)
        assert card.environment["dirty"] is False

    def test_a_score_comes_out_again(self, card):
        (point,) = sweep(open_model(card.name), card.task, "length", [20], count=100, seed=5)
        stored = card.scores["length=20"]
        assert abs(point.accuracy - stored) <= 4 * math.sqrt(stored * (1 - stored) / 100) + 0.02


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
