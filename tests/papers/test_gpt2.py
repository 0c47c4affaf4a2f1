"""GPT-2 on prompts: loss and decoding against slow ones, a real small fine-tuning."""

import json
import math

import pytest
import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.tasks import make_task
from ordinate.lab.training import AdamW, Evaluation, Training, load_model
from ordinate.papers.positional.fine_tuning import ANSWER_TOKENS, LanguageModel, fine_tune_job
from ordinate.papers.positional.gpt2 import FINE_TUNING, FineTuning, Gpt2, fingerprint
from tests.papers.tiny_gpt2 import END

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def model(folder):
    model = LanguageModel(folder, CPU)
    model.model.eval()
    return model


def test_the_loss_is_the_mean_over_all_tokens_of_all_texts(model):
    texts = ["Cata, 01.50. Find min", "Cata, 01.50, Catb, 00.25. Find sum of categories Cata."]
    losses = []
    for text in texts:
        tokens = torch.tensor(model.tokenizer(text + END)["input_ids"])
        with torch.no_grad():
            logs = model.model(tokens[None]).logits[0].log_softmax(-1)
        losses += [-float(logs[i, tokens[i + 1]]) for i in range(len(tokens) - 1)]
        assert int(tokens[-1]) == model.tokenizer.eos_token_id
    assert float(model.loss(texts, 102).detach()) == pytest.approx(sum(losses) / len(losses), rel=1e-5)


def test_a_text_that_is_too_long_is_refused(model):
    with pytest.raises(OrdinateError, match="tokens, and max_length is 5"):
        model.loss(["Cata, 01.50, Catb, 00.25. Find sum of categories Cata."], 5)


def test_answers_of_many_are_those_of_each_token_by_token(model):
    texts = ["Cata, 01.50. Find min", "Cata, 01.50, Catb, 00.25, Catc, 03.33. Find sum of categories Cata."]
    for text, found in zip(texts, model.answer(texts), strict=True):
        tokens = model.tokenizer(text)["input_ids"]
        start = len(tokens)
        while len(tokens) < start + ANSWER_TOKENS:
            with torch.no_grad():
                tokens.append(int(model.model(torch.tensor([tokens])).logits[0, -1].argmax()))
            if tokens[-1] == model.tokenizer.eos_token_id:
                break
        assert found == model.tokenizer.decode(tokens[start:], skip_special_tokens=True)


def recipe(folder, **training):
    """A task that two layers learn to write the answers of in seconds."""
    return FineTuning(
        name="tiny",
        task=make_task("mixed", categories=1, asked=1, confusing=0, names=4),
        model=Gpt2.of(folder),
        training=Training(
            **{
                "steps": 120,
                "batch": 16,
                "samples": 64,
                "log_every": 20,
                "optimizer": AdamW(learning_rate=0.01),
            }
            | training
        ),
        evaluation=Evaluation(count=70, axes={"beyond": (1.0, 4.0)}),
    )


def fine_tune(folder, store, chosen, told=lambda **facts: None):
    done = fine_tune_job(folder=str(folder), recipe=chosen.to_dict(), seed=0, store=str(store), report=told)
    return Store(store).find(done)


@pytest.fixture(scope="module")
def tuned(folder, tmp_path_factory):
    """A run, and what it told on the way."""
    told = []
    store = tmp_path_factory.mktemp("tuned")
    return fine_tune(folder, store, recipe(folder), lambda **facts: told.append(facts)), told


def test_fine_tuning_lowers_the_loss(tuned):
    run, told = tuned
    losses = [row["loss"] for row in run.metrics()]
    assert len(losses) == 6
    assert losses[-1] < 0.4 * losses[0]
    assert told[-1]["step"] == told[-1]["steps"] == 120 + 3
    record = run.record()
    assert (record["status"], record["step"], record["samples_seen"]) == ("done", 120, 1920)
    assert record["parameters"] > 40_000
    assert record["transformers"].startswith("5.")


def test_answers_are_read_and_kept(tuned):
    run, _ = tuned
    points = run.read_result("evaluation")
    assert [(point["axis"], point["value"], point["count"]) for point in points] == [
        ("scale", 1.0, 70),
        ("beyond", 1.0, 70),
        ("beyond", 4.0, 70),
    ]
    assert points[0]["numbers"] > 0.5
    answers, errors = run.load_arrays("answers"), run.load_arrays("errors")
    for name, point in zip(("validation", "beyond=1", "beyond=4"), points, strict=True):
        read = answers[name].isfinite()
        assert float(read.double().mean()) == pytest.approx(point["numbers"])
        assert run.record()["scores"][name] == pytest.approx(point["mse"], nan_ok=True)
        assert float(errors[name].mean()) == pytest.approx(point["mse"], rel=1e-5, nan_ok=True)


def test_the_weights_stay_as_they_were_and_are_not_kept(folder, tuned):
    assert fingerprint.__wrapped__(folder) == recipe(folder).model.weights
    with pytest.raises(OrdinateError, match="no checkpoint"):
        load_model(tuned[0])


def test_a_run_that_was_stopped_starts_again_and_ends_the_same(folder, tmp_path):
    chosen = recipe(folder, steps=4, log_every=2).model_copy(update={"evaluation": Evaluation(count=5)})

    def stop(**facts):
        if facts["step"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fine_tune(folder, tmp_path / "a", chosen, stop)
    assert Store(tmp_path / "a").open(chosen.to_dict(), 0).status == "running"
    runs = [fine_tune(folder, tmp_path / store, chosen) for store in ("a", "b")]
    assert [row["step"] for row in runs[0].metrics()] == [2, 4]
    assert runs[0].metrics() == runs[1].metrics()
    for name, found in runs[0].load_arrays("answers").items():
        assert torch.equal(found.nan_to_num(-1), runs[1].load_arrays("answers")[name].nan_to_num(-1))


def test_a_loss_that_is_no_number_is_a_failed_seed(folder, tmp_path, monkeypatch):
    loss = LanguageModel.loss
    monkeypatch.setattr(LanguageModel, "loss", lambda *given: loss(*given) * math.nan)
    run = fine_tune(folder, tmp_path, recipe(folder))
    assert (run.status, run.record()["error"]) == ("failed", "the loss is nan at step 1")


def test_recipes_are_as_published_and_can_be_read_again(folder):
    chosen = recipe(folder).model_copy(update={"training": FINE_TUNING})
    assert FineTuning.parse(json.loads(json.dumps(chosen.to_dict()))) == chosen
    assert (FINE_TUNING.steps, FINE_TUNING.batch, FINE_TUNING.samples) == (9375, 16, 50_000)
    assert chosen.max_length == 102
    optimizer = FINE_TUNING.optimizer.build([torch.nn.Parameter(torch.zeros(1))])
    assert (optimizer.defaults["lr"], optimizer.defaults["eps"]) == (2e-5, 1e-8)
    schedule = FINE_TUNING.schedule.build(optimizer, FINE_TUNING.steps)
    rates = [schedule.lr_lambdas[0](step) for step in (49, 99, 100, 9375)]
    assert rates == pytest.approx([0.5, 1, 1, 0])
    with pytest.raises(OrdinateError, match="not built but fine-tuned"):
        chosen.model.build(chosen.task)
