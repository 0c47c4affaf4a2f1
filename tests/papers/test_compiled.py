"""Compiled models beside trained ones: errors of rounding alone, and descent from beside a compiled solution."""

import math

import pytest
import torch

from ordinate.lab.runs import Store
from ordinate.lab.training import train
from ordinate.papers import FIGURES
from ordinate.papers.positional import descent
from ordinate.papers.positional.descent import compiled_for, distance, how_far
from ordinate.papers.positional.value_scale import SETTINGS, TASKS, ValueScale, recipe_for
from tests.papers.inline import Inline

FIGURE = FIGURES["positional/compiled"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """One task, one seed, a few steps, trained in this process; nothing is left for the engine."""
    out = tmp_path_factory.mktemp("out")
    training = SETTINGS["smoke"].training.model_copy(update={"steps": 2, "batch": 8})
    tiny = ValueScale(description="tiny", tasks=("min",), seeds=1, training=training, count=20)
    before = SETTINGS["smoke"], descent.DESCENTS["smoke"]
    SETTINGS["smoke"], descent.DESCENTS["smoke"] = tiny, descent.Descent((0.0, 0.1), 20, batch=32)
    study = FIGURE.study("smoke", out / "runs")
    for recipe in study.recipes:
        train(recipe, study.seeds_of(recipe), store=Store(out / "runs"))
    yield out, FIGURE.reproduce("smoke", out, engine=Inline())
    SETTINGS["smoke"], descent.DESCENTS["smoke"] = before


def test_the_runs_are_those_of_the_value_scale_figure(made):
    out, _ = made
    store = Store(out / "runs")
    for model in ("positional", "standard"):
        assert store.open(recipe_for("min", model, "smoke").to_dict(), 0).status == "done"
    assert FIGURES["positional/value-scale"].jobs("smoke", out) == []


def test_a_compiled_model_errs_by_rounding_alone_at_every_scale(made):
    _, result = made
    curves = result.document["curves"]["min"]
    assert [len(curves[model][0]) for model in ("compiled", "positional", "standard")] == [10] * 3
    assert max(curves["compiled"][0]) < 1e-9 < 1e-3 < min(curves["positional"][0])
    share, ratio = result.claims
    assert 0 < share.measured.estimate <= 1
    assert ratio.measured.estimate > 1e6


def test_noise_is_a_distance_and_descent_begins_there(made):
    _, result = made
    still, noisy = result.document["descents"]["min"]
    assert (still["noise"], noisy["noise"]) == (0, 0.1)
    assert still["distance_before"] == [0]
    assert still["before"][0] < 1e-9
    assert still["back"] == [True]
    assert noisy["distance_before"][0] == pytest.approx(0.1, rel=0.3)
    assert noisy["before"][0] > 1e-3
    assert math.isfinite(noisy["after"][0])
    assert result.files["html"].is_file()
    assert [row[1] for row in result.table[1]] == [
        "compiled",
        "positional",
        "standard",
        "disturbed",
        "disturbed",
    ]


def test_a_second_call_trains_nothing(made):
    out, _ = made
    assert FIGURE.jobs("smoke", out) == []


def test_from_how_far_descent_returns():
    rows = [{"noise": 0.0, "back": [True]}, {"noise": 0.1, "back": [False]}, {"noise": 0.3, "back": [True]}]
    assert how_far(rows) == "every seed returns from noise up to 0"
    assert how_far(rows[1:]) == "not every seed returns, from any noise"


def test_every_task_has_a_program_with_a_proven_bound():
    for task in TASKS:
        compiled = compiled_for(task)
        assert compiled.program.task == task
        assert distance(compiled.model, compiled.model) == 0
    assert FIGURE.scales.keys() == SETTINGS.keys() == descent.DESCENTS.keys()
    assert compiled_for("sum").model.encode.weight.dtype == torch.float32
