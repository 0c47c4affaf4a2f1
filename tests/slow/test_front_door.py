"""Minutes long: the figure through the real front door, and what a short real training shows."""

import json
import subprocess
import sys
import time

import pytest

from ordinate.lab.evaluation import sweep
from ordinate.lab.runs import Store
from ordinate.lab.training import load_model, train
from ordinate.papers.positional.value_scale import SETTINGS, recipe_for


def test_smoke_reproduces_in_under_a_minute_and_gives_no_verdict(tmp_path):
    command = [sys.executable, "-m", "ordinate", "reproduce", "positional/value-scale", "--scale", "smoke"]
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--out", str(tmp_path), "--json"], capture_output=True, text=True, check=True
    )
    assert time.monotonic() - began < 60
    (figure,) = json.loads(done.stdout)["figures"]
    assert {claim["verdict"] for claim in figure["claims"]} == {None}
    again = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, check=True)
    assert "0 jobs on" in again.stderr


def test_a_short_real_training_already_tells_the_two_models_apart(tmp_path):
    at_ten = {}
    for model in ("positional", "standard"):
        recipe = recipe_for("sum", model, "laptop")
        training = SETTINGS["laptop"].training.model_copy(update={"steps": 800})
        run = train(recipe.model_copy(update={"training": training}), [0], store=str(tmp_path))[0]
        inside, outside = sweep(load_model(run), recipe.task, "scale", [1.0, 10.0])
        assert inside.variance_share < 0.01
        at_ten[model] = outside.mse
    assert at_ten["positional"] < at_ten["standard"] / 10


def test_compiled_training_follows_the_plain_one(tmp_path):
    """In processes of their own: the checks of shapes that tests put around functions cannot be compiled."""
    recipe, losses = tmp_path / "recipe.toml", []
    for compiled in ("false", "true"):
        recipe.write_text(
            f"""
            name = "compiled-{compiled}"
            task = {{name = "sum", length = 4}}
            model = {{kind = "standard", width = 16, hidden = 16}}
            training = {{steps = 20, batch = 32, compile = {compiled}, log_every = 1}}
            """
        )
        command = [sys.executable, "-m", "ordinate", "train", str(recipe), "--seeds", "2"]
        subprocess.run([*command, "--out", str(tmp_path / "runs")], capture_output=True, check=True)
        store = Store(tmp_path / "runs")
        runs = [store.find(record.id) for record in store.runs(name=f"compiled-{compiled}*")]
        losses.append([row["loss"] for run in runs for row in run.metrics()])
        assert load_model(runs[0])
    assert len(losses[0]) == 40
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
