"""Picked checkpoints: the best of those measured along a training, beside the last one."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.evaluation.sweep import measure, test_set
from ordinate.lab.seeds import derive
from ordinate.lab.training import Recipe, load_model, train


class Stop(Exception):
    pass


def recipe(name="picked", task="addition", **pick):
    tasks = {
        "addition": {"name": "addition", "digits": 1, "width": 2},
        "sum": {"name": "sum", "length": 3},
    }
    axis = {"addition": {"axis": "length", "value": 2}, "sum": {"axis": "scale", "value": 2}}[task]
    return Recipe.parse(
        {
            "name": name,
            "task": tasks[task],
            "model": {
                "kind": "encoder",
                "layers": 1,
                "width": 16,
                "hidden": 16,
                "encoding": {"kind": "shaw", "clip": 2},
            },
            "training": {
                **{"steps": 16, "batch": 16, "average": 0.5, "checkpoint_every": 4, "save_seconds": 0.0},
                "optimizer": {"kind": "adamw", "learning_rate": 0.01},
                "pick": {**axis, "count": 40, "every": 4, **pick},
            },
            "evaluation": {"count": 30, "axes": {axis["axis"]: [axis["value"]]}},
        }
    )


def scores(run):
    return {row["step"]: row["pick"] for row in run.metrics() if "pick" in row}


@pytest.mark.parametrize(("task", "best"), [("addition", max), ("sum", min)])
def test_the_best_checkpoint_is_picked_and_the_last_measured_beside_it(tmp_path, task, best):
    r = recipe(task=task)
    run = train(r, store=str(tmp_path))[0]
    record, seen = run.record(), scores(run)
    assert sorted(seen) == list(range(4, 17, 4))
    assert record["picked"]["score"] == best(seen.values())
    assert record["picked"]["step"] == max(
        step for step, score in seen.items() if score == best(seen.values())
    )
    pick = r.training.pick
    tests = test_set(r.task, pick.axis, pick.value, count=pick.count, seed=derive(0, "pick"))
    for step, score in seen.items():
        assert measure(load_model(run, step), r.task, tests)[0].score == pytest.approx(score)
    assert set(record["picked"]["scores"]) == set(record["scores"])
    assert run.load_checkpoint()[1]["step"] == 16
    assert [p["axis"] for p in run.read_result("evaluation-picked")] == [
        p["axis"] for p in run.read_result("evaluation")
    ]


def test_picked_weights_are_kept_without_other_checkpoints(tmp_path):
    document = recipe().to_dict()
    del document["training"]["checkpoint_every"]
    run = train(Recipe.parse(document), store=str(tmp_path))[0]
    assert sorted({run.record()["picked"]["step"], 16}) == run.checkpoints()


def test_a_stopped_run_picks_the_same(tmp_path):
    r = recipe()
    document = r.to_dict()
    document["training"]["log_every"] = 1
    r = Recipe.parse(document)
    whole = train(r, store=str(tmp_path / "whole"))[0]

    def stop(**facts):
        if facts["step"] == 10:
            raise Stop

    with pytest.raises(Stop):
        train(r, store=str(tmp_path / "stopped"), report=stop)
    other = train(r, store=str(tmp_path / "stopped"), resume=True)[0]
    assert scores(whole) == scores(other)
    assert whole.record()["picked"] == other.record()["picked"]
    step = whole.record()["picked"]["step"]
    for name, value in whole.load_checkpoint(step)[0].items():
        assert torch.equal(value, other.load_checkpoint(step)[0][name])


def test_picking_does_not_change_the_course(tmp_path):
    document = recipe(name="plain").to_dict()
    del document["training"]["pick"]
    plain, picked = (
        train(r, store=str(tmp_path))[0] for r in (Recipe.parse(document), recipe(name="picked"))
    )
    assert plain.record()["picked"] is None
    assert plain.record()["scores"] == picked.record()["scores"]


def test_a_length_that_the_model_cannot_reach_is_refused_before_the_training(tmp_path):
    document = recipe(value=9).to_dict()
    document["model"]["encoding"] = {"kind": "learned", "width": 4}
    with pytest.raises(OrdinateError, match="evaluate at lengths of at most"):
        train(Recipe.parse(document), store=str(tmp_path))
