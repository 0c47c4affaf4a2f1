"""Ensembles: K seeds in one pass are K separate runs."""

import math

import pytest
import torch

from ordinate.lab.architectures import Positional, Standard
from ordinate.lab.training import Recipe, train
from ordinate.lab.training.member import loss


def recipe(model="positional", name="small", **training):
    return Recipe.parse(
        {
            "name": name,
            "task": {"name": "sum", "length": 4},
            "model": {"kind": model, "width": 16, "hidden": 16},
            "training": {
                "steps": 20,
                "batch": 16,
                "precision": "float64",
                "device": "cpu",
                "log_every": 1,
                **training,
            },
            "evaluation": {"count": 20},
        }
    )


def losses(run):
    return [row["loss"] for row in run.metrics() if "loss" in row]


COURSES = [
    ("positional", {}),
    ("standard", {"clip": 0.1}),
    ("positional", {"samples": 64, "schedule": {"kind": "plateau", "patience": 0, "factor": 0.5}}),
    ("hybrid", {"optimizer": "adamw"}),
]


def assert_members_follow_separate_runs(tmp_path, chosen, seeds):
    together = train(chosen, seeds, store=str(tmp_path / "together"))
    for seed in seeds:
        alone = train(chosen, [seed], store=str(tmp_path / "alone"))[0]
        assert len(losses(alone)) == chosen.training.steps
        difference = max(abs(a - b) for a, b in zip(losses(together[seed]), losses(alone), strict=True))
        assert difference < 1e-8
        rates = [[row["rate"] for row in run.metrics()] for run in (together[seed], alone)]
        assert rates[0] == rates[1]


@pytest.mark.parametrize(("model", "training"), COURSES)
def test_members_follow_the_course_of_separate_runs(tmp_path, model, training):
    assert_members_follow_separate_runs(tmp_path, recipe(model, **training), [0, 1])


def test_members_differ_from_each_other(tmp_path):
    a, b = train(recipe(steps=3), [0, 1], store=str(tmp_path))
    assert losses(a) != losses(b)


def test_a_member_whose_loss_is_no_number_fails_alone(tmp_path, monkeypatch):
    """Seed 1 meets an infinite input at step 5; the others end as if it had never been there."""
    from ordinate.lab.training.data import Data

    plain = Data.at

    def poisoned(self, step):
        batch = plain(self, step)
        if self.seed == 1 and step == 4:
            batch.input[0, 0, 0] = math.inf
        return batch

    monkeypatch.setattr(Data, "at", poisoned)
    r = recipe(steps=10)
    runs = train(r, [0, 1, 2], store=str(tmp_path / "together"))
    assert [run.status for run in runs] == ["done", "failed", "done"]
    assert "step 5" in runs[1].record()["error"]
    assert runs[1].record()["step"] == 5
    for seed in (0, 2):
        alone = train(r, [seed], store=str(tmp_path / "alone"))[0]
        assert max(abs(a - b) for a, b in zip(losses(runs[seed]), losses(alone), strict=True)) < 1e-8


def test_all_members_may_fail(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "ordinate.lab.training.loop.ensemble_losses",
        lambda models, *rest, **options: (
            sum(p.sum() for m in models for p in m.parameters()) * torch.tensor([math.nan] * 2)
        ),
    )
    runs = train(recipe(steps=10), [0, 1], store=str(tmp_path))
    assert [run.status for run in runs] == ["failed", "failed"]


def test_the_loss_is_the_mean_over_scored_outputs():
    output, target = torch.randn(2, 5, 3, 2)
    scored = torch.tensor([[True, False], [True, True], [False, False]])
    expected = ((output - target)[:, scored] ** 2).mean()
    torch.testing.assert_close(loss(output, target, scored), expected)


def test_bfloat16_products_learn_and_finish_in_float32(tmp_path):
    for model in (Positional(width=16, hidden=16), Standard(width=16, hidden=16)):
        r = recipe(model.name, precision="bfloat16", steps=60, name="low")
        run = train(r, [0], store=str(tmp_path))[0]
        assert run.status == "done"
        assert losses(run)[-1] < losses(run)[0]
        tensors, _ = run.load_checkpoint()
        assert {t.dtype for t in tensors.values()} == {torch.float32}
