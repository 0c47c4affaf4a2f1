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
