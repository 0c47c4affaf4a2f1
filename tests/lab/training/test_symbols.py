"""Training on symbols: an encoder learns, averaged weights, noise, exact resume, ensembles."""

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.seeds import derive
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Linear, Recipe, load_model, train
from ordinate.lab.training.data import Data
from ordinate.lab.training.member import loss
from ordinate.models import build_model
from tests.lab.training.test_resume import Stop, assert_same_course

RELATED = {
    "kind": "pairwise",
    "relation": {"kind": "product", "of": ["aligned", {"kind": "window", "back": 2}]},
}


def recipe(name="add", task=None, model=None, evaluation=None, **training):
    return Recipe.parse(
        {
            "name": name,
            "task": {"name": "addition", "digits": 2, "width": 3, **(task or {})},
            "model": {
                **{"kind": "encoder", "width": 16, "heads": 2, "hidden": 16, "layers": 1},
                **{"attention": "content-class", "encoding": RELATED, **(model or {})},
            },
            "training": {
                **{"steps": 30, "batch": 32, "device": "cpu", "log_every": 1},
                **{"optimizer": {"learning_rate": 0.01}, **training},
            },
            "evaluation": {"count": 40, "axes": {"length": [2, 6]}, **(evaluation or {})},
        }
    )


def losses(run):
    return [row["loss"] for row in run.metrics() if "loss" in row]


def weights(run):
    return run.load_checkpoint()[0]


def test_an_encoder_learns_and_is_measured_by_exact_match(tmp_path):
    run = train(recipe(evaluation={"axes": {"length": [2, 6], "cascade": [2]}}), store=str(tmp_path))[0]
    assert losses(run)[-1] < 0.9 * losses(run)[0]
    points = run.read_result("evaluation")
    assert [(p["axis"], p["value"]) for p in points] == [
        ("length", 2),
        ("length", 2),
        ("length", 6),
        ("cascade", 2),
    ]
    for point in points:
        assert {"accuracy", "symbol_accuracy", "cross_entropy"} <= set(point)
        assert "mse" not in point
        assert 0 <= point["accuracy"] <= point["symbol_accuracy"] <= 1
    record = run.record()
    assert record["scores"]["validation"] == points[0]["accuracy"]
    assert record["averaged"] is False
    assert record["samples_seen"] == 30 * 32


def test_the_validation_set_is_as_trained_whatever_length_is_measured(tmp_path):
    for task, model, axes in (
        ({"name": "sum", "length": 3}, {"encoding": "none", "attention": "content"}, {"scale": [1, 2]}),
        ({}, {}, {"cascade": [1]}),
    ):
        task = {"name": "addition", "digits": 2, "width": 3, **task} if "length" not in task else task
        r = Recipe.parse(
            {
                **recipe(f"as-trained-{task['name']}", model=model, steps=1).to_dict(),
                "task": task,
                "evaluation": {"count": 10, "axes": axes, "length": 5},
            }
        )
        run = train(r, store=str(tmp_path))[0]
        first, *others = run.read_result("evaluation")
        assert first["in_distribution"]
        assert first["lengths"] == list(r.task.lengths())
        assert "validation" in run.record()["scores"]
        for point in others:
            assert point["lengths"] == [5]
            assert not point["in_distribution"]


def test_a_task_without_length_and_scale_is_validated_too(tmp_path):
    document = recipe("ring", model={"encoding": "none", "attention": "content"}, steps=2).to_dict()
    task = {"name": "ring", "places": 5, "filled": 3, "dimension": 2}
    r = Recipe.parse({**document, "task": task, "evaluation": {"count": 10, "axes": {"filled": [5]}}})
    points = train(r, store=str(tmp_path))[0].read_result("evaluation")
    assert [(p["axis"], p["value"]) for p in points] == [("filled", 3), ("filled", 5)]


def test_averaged_weights_are_what_is_kept(tmp_path):
    plain = recipe("plain", checkpoint_every=1, steps=4)
    averaged = recipe("averaged", checkpoint_every=1, steps=4, average=0.5)
    one, other = (train(r, store=str(tmp_path))[0] for r in (plain, averaged))
    assert losses(one) == losses(other)  # averaging does not change the course
    model = build_model(plain.model, plain.task, seed=derive(0, "weights"))
    expected = {name: value.clone() for name, value in model.state_dict().items()}
    for step in range(1, 5):
        decay = min(0.5, step / (step + 10))
        now, kept = one.load_checkpoint(step)[0], other.load_checkpoint(step)
        for name in expected:
            expected[name] = decay * expected[name] + (1 - decay) * now[name]
            torch.testing.assert_close(kept[0][name], expected[name])
        assert kept[1]["averaged"] is True
    assert other.record()["averaged"] is True
    batch = plain.task.sample(2, generator=torch.Generator().manual_seed(0))
    model.load_state_dict(expected)
    torch.testing.assert_close(
        load_model(other)(batch.input, batch.coordinates), model(batch.input, batch.coordinates)
    )


TEXT = {
    "task": {"words": 2},
    "model": {"attention": "content", "encoding": "significance"},
    "evaluation": {"axes": {}},
}
NOISY = {"model": {"dropout": 0.1, "attention": "content", "encoding": "abacus"}, "average": 0.9}


@pytest.mark.parametrize(("at", "seeds"), [(1, [0]), (7, [0, 1])])
def test_a_noisy_run_that_was_stopped_ends_bit_equal(tmp_path, at, seeds):
    r = recipe(**NOISY, save_seconds=0.0, steps=10, evaluation={"every": 5})
    whole = train(r, seeds, store=str(tmp_path / "whole"))

    def stop(**facts):
        if facts["step"] == at:
            raise Stop

    with pytest.raises(Stop):
        train(r, seeds, store=str(tmp_path / "stopped"), report=stop)
    torch.manual_seed(at)  # whatever the global generator holds
    for a, b in zip(whole, train(r, seeds, store=str(tmp_path / "stopped"), resume=True), strict=True):
        assert_same_course(a, b)


def test_training_leaves_the_global_generator_alone(tmp_path):
    before = torch.get_rng_state()
    train(recipe(**NOISY, steps=2), store=str(tmp_path))
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize("options", [{}, NOISY, TEXT], ids=["plain", "noisy", "text"])
def test_an_ensemble_is_its_members_trained_alone(tmp_path, options):
    r = recipe(**options, steps=8)
    together = train(r, [3, 5], store=str(tmp_path / "together"))
    alone = [train(r, [seed], store=str(tmp_path / "alone"))[0] for seed in (3, 5)]
    for a, b in zip(together, alone, strict=True):
        assert_same_course(a, b)
    assert losses(together[0]) != losses(together[1])


def test_numbers_with_random_positions_are_trained_as_if_alone(tmp_path):
    document = recipe("numbers", steps=5).to_dict()
    model = {"kind": "standard", "width": 8, "hidden": 8, "layers": 1, "encoding": "randomized"}
    r = Recipe.parse(
        {**document, "task": {"name": "sum", "length": 4}, "model": model, "evaluation": {"count": 5}}
    )
    together = train(r, [0, 1], store=str(tmp_path / "together"))
    for seed in (0, 1):
        assert_same_course(together[seed], train(r, [seed], store=str(tmp_path / "alone"))[0])


def test_text_between_numbers_trains(tmp_path):
    model = {"attention": "content", "encoding": "significance"}
    r = recipe("text", task={"words": 3}, model=model, steps=20, evaluation={"axes": {"words": [3]}})
    run = train(r, store=str(tmp_path))[0]
    assert run.status == "done"
    assert losses(run)[-1] < losses(run)[0]


def test_a_fixed_set_of_layouts_that_change_is_refused(tmp_path):
    for task in (
        make_task("addition", words=2),
        make_task("addition", format="variable"),
        make_task("arithmetic"),
    ):
        with pytest.raises(OrdinateError, match=r"training.samples: .* draws a new layout for every batch"):
            Data(task, batch=4, samples=8, seed=0)
    batch = Data(make_task("addition"), batch=4, samples=8, seed=0).at(1)
    assert torch.equal(batch.target, make_task("addition").reference(batch.input, batch.coordinates))


def test_a_length_that_the_model_cannot_take_is_refused_before_training(tmp_path):
    for evaluation in ({"axes": {"length": [2, 6]}}, {"axes": {"cascade": [2]}, "length": 6}):
        r = recipe(model={"encoding": "shaw"}, evaluation=evaluation)
        with pytest.raises(OrdinateError, match=r"^evaluation: relative\(\) has no class .* at 15 tokens"):
            train(r, store=str(tmp_path / "runs"))
        assert not list(tmp_path.glob("runs/add-*"))
    assert train(
        recipe(model={"encoding": "shaw"}, evaluation={"axes": {"length": [2]}}, steps=1), store=str(tmp_path)
    )


def test_the_loss_of_symbols_is_the_mean_cross_entropy_of_the_scored_ones():
    output, target = torch.randn(2, 3, 4), torch.tensor([[0, 1, 2], [3, 0, 1]])
    scored = torch.tensor([[True], [False], [True]])
    expected = -torch.stack(
        [output[b, t].log_softmax(-1)[target[b, t]] for b in range(2) for t in (0, 2)]
    ).mean()
    torch.testing.assert_close(loss(output, target, scored), expected)


def test_averages_come_with_the_linear_schedule_of_a_recipe():
    r = recipe(schedule={"kind": "linear", "warmup": 0.5}, average=0.99)
    assert r.training.schedule == Linear(warmup=0.5)
    assert Recipe.parse(r.to_dict()) == r
    for average in (0, 1, 1.5):
        with pytest.raises(OrdinateError, match=r"training.average = .* is not allowed"):
            recipe(average=average)
