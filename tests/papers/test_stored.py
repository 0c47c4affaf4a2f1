"""Stored laptop results meet what the project promises of them."""

import json
from pathlib import Path

import pytest

from ordinate.papers.positional.value_scale import SETTINGS, TASKS

STORED = Path(__file__).parents[2] / "results" / "positional" / "value-scale" / "result.json"


@pytest.fixture(scope="module")
def document():
    return json.loads(STORED.read_text(encoding="utf-8"))


def test_it_was_measured_at_laptop_scale_with_the_settings_of_today(document):
    assert document["scale"] == "laptop"
    assert document["settings"]["steps"] == SETTINGS["laptop"].training.steps
    assert document["settings"]["batch"] == SETTINGS["laptop"].training.batch
    assert document["environment"]["revision"]
    assert document["wall_seconds"] <= 25 * 60
    assert document["not_ended"] == []


@pytest.mark.parametrize("task", TASKS)
def test_positional_is_at_least_fifty_times_better_at_ten(document, task):
    at_ten = {m: c["summary"]["scale=10"]["median"] for m, c in document["curves"][task].items()}
    assert at_ten["positional"] <= at_ten["standard"] / 50


@pytest.mark.parametrize("task", TASKS)
def test_validation_error_is_within_thirty_times_the_published_one(document, task):
    curve = document["curves"][task]["positional"]
    assert curve["summary"]["validation"]["median"] <= 30 * curve["published"]["validation"]


def test_every_curve_has_three_seeds_or_more(document):
    for by_model in document["curves"].values():
        for curve in by_model.values():
            assert len(curve["values"]) >= 3


ADDITION = Path(__file__).parents[2] / "results" / "beyond" / "addition-1000" / "result.json"


@pytest.fixture(scope="module")
def addition():
    return json.loads(ADDITION.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("curve", "seeds", "digits", "share"),
    [("relation", 5, 100, 0.99), ("relation", 5, 1000, 0.95), ("discovered", 3, 1000, 0.95)],
)
def test_additions_learned_on_five_digits_are_right_far_beyond(addition, curve, seeds, digits, share):
    axis = addition["curves"][curve]["axes"]["length"]
    values = [row[axis["x"].index(digits)] for row in axis["values"]]
    assert len(values) == seeds
    assert sorted(values)[seeds // 2] >= share
    assert addition["scale"] == "laptop"
    assert addition["environment"]["revision"]
    assert addition["not_ended"] == []


def test_a_seed_of_addition_trains_in_ten_minutes(addition):
    assert max(addition["curves"]["relation"]["seconds"]) <= 600
