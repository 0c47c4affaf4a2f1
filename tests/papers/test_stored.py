"""Stored laptop results meet what the project promises of them."""

import json
import shutil

import pytest

from ordinate.papers import FIGURES, rewrite_report
from ordinate.papers.positional.value_scale import SETTINGS, TASKS
from ordinate.papers.symmetry.counts import FIG_13, FIG_14
from ordinate.papers.symmetry.ring import setting_of, settings_of
from tests.papers.stored import RESULTS, STORED, stored


@pytest.fixture(scope="module")
def document():
    return stored("positional/value-scale")


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


@pytest.mark.parametrize(
    ("figure", "curve", "seeds", "digits", "share"),
    [
        ("addition-1000", "relation", 5, 100, 0.99),
        ("addition-1000", "relation", 5, 1000, 0.95),
        ("addition-1000", "discovered", 3, 1000, 0.95),
        ("multiplication-1", "relation", 3, 100, 0.99),
        ("multiplication-1", "discovered", 3, 100, 0.99),
        ("addition-in-text", "text", 3, 100, 0.95),
        ("addition-multiplication", "both", 3, 100, 0.95),
    ],
)
def test_what_was_learned_on_five_digits_is_right_far_beyond(figure, curve, seeds, digits, share):
    document = stored(f"beyond/{figure}")
    axis = document["curves"][curve]["axes"]["length"]
    values = [row[axis["x"].index(digits)] for row in axis["values"]]
    assert len(values) == seeds
    assert sorted(values)[seeds // 2] >= share
    assert document["scale"] == "laptop"
    assert document["environment"]["revision"]
    assert document["not_ended"] == []


@pytest.mark.parametrize("figure", ["addition-1000", "multiplication-1"])
def test_a_seed_trains_in_ten_minutes(figure):
    assert max(stored(f"beyond/{figure}")["curves"]["relation"]["seconds"]) <= 600


def test_cascades_of_twenty_places_are_right_for_a_looped_model_that_saw_five():
    document = stored("beyond/cascades")
    assert document["scale"] == "laptop"
    assert document["environment"]["dirty"] is False
    axis = document["curves"]["looped"]["axes"]["cascade"]
    at_twenty = [row[axis["x"].index(20)] for row in axis["values"]]
    assert len(at_twenty) == 3
    assert min(at_twenty) >= 0.9
    assert [claim["verdict"] for claim in document["claims"]] == ["supported"]


COMPUTED = [name for name, figure in FIGURES.items() if figure.compute is not None]


def test_all_that_is_computed_is_stored():
    assert set(COMPUTED) <= set(STORED)


@pytest.mark.parametrize("name", STORED)
def test_a_stored_figure_has_verdicts_and_origin(name):
    document = stored(name)
    assert document["figure"] == name
    assert document["scale"] == "laptop"
    assert document["environment"]["revision"]
    assert document["environment"]["dirty"] is False
    assert document["not_ended"] == []
    for claim in document["claims"]:
        assert claim["verdict"] in ("supported", "contradicted", "inconclusive")
        decided = claim["verdict"] != "inconclusive"
        assert not decided or claim.get("exact") or claim["seeds"] - claim["failed"] >= 3


@pytest.mark.parametrize("name", ["symmetry/fig-13", "positional/depth"])  # all of them are in tests/slow
def test_a_stored_figure_is_drawn_without_computing(name, tmp_path):
    shutil.copy(RESULTS / name / "result.json", tmp_path)
    result = rewrite_report(tmp_path)
    assert [claim.to_dict() for claim in result.claims] == result.document["claims"]
    assert result.files["html"].stat().st_size < 5_000_000


RINGS = ("symmetry/fig-9", "symmetry/fig-15", "symmetry/fig-16")


def test_rings_were_measured_with_the_settings_of_today_in_two_minutes():
    for name in RINGS:
        setting = setting_of(name.partition("/")[2], "laptop")
        assert stored(name)["settings"] == json.loads(json.dumps(settings_of(setting)))
    assert sum(stored(name)["wall_seconds"] for name in RINGS) <= 120


@pytest.mark.parametrize("name", ["symmetry/fig-9", "symmetry/fig-15"])
def test_only_relative_positions_carry_over_on_the_ring(name):
    document = stored(name)
    beyond = {model: sorted(curve["beyond"]) for model, curve in document["curves"].items()}
    assert beyond["RPE"][-1] < 1e-3 * document["nothing"]
    assert beyond["APE + shifts"][0] > 100 * beyond["RPE"][-1]
    assert beyond["APE"][0] == pytest.approx(document["nothing"], rel=0.02)


def test_exact_counts_are_those_of_today():
    for count in (FIG_13, FIG_14):
        for digits, values in stored(f"symmetry/{count.key}")["exact"].items():
            today = count.distribution(int(digits))[: len(values)].tolist()
            assert values == pytest.approx(today, rel=1e-4)
