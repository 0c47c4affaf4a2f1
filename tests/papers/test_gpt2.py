"""GPT-2 on prompts: texts as a person reads them, errors and decoding against slow ones, a real small fine-tuning."""

import doctest
import json
import math
import pickle
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.papers import FIGURES
from ordinate.papers.positional import fine_tuning, gpt2, prompts
from ordinate.papers.positional.fine_tuning import ANSWER_TOKENS, LanguageModel, fine_tune_job
from ordinate.papers.positional.gpt2 import (
    FINE_TUNING,
    VARIABLE,
    FineTuning,
    Gpt2,
    NotAtHandError,
    find_weights,
    fingerprint,
)
from ordinate.papers.positional.prompts import judge_answers, read_answer, write_prompts
from ordinate.runs import Store
from ordinate.tasks import make_task
from ordinate.training import AdamW, Evaluation, Training, load_model
from tests.cli.conftest import Answer
from tests.papers.inline import Inline
from tests.papers.tiny_gpt2 import END, save_tiny_gpt2

CPU = torch.device("cpu")
FIGURE = FIGURES["positional/mixed-type"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_gpt2(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def model(folder):
    model = LanguageModel(folder, CPU)
    model.model.eval()
    return model


# Prompts


def test_examples_in_the_documentation_are_right():
    assert doctest.testmod(prompts).attempted > 3
    assert doctest.testmod(prompts).failed == 0


@settings(max_examples=15)
@given(
    categories=st.integers(1, 9),
    data=st.data(),
    unseen=st.integers(0, 1),
    scale=st.sampled_from([1.0, 10.0]),
    seed=st.integers(0, 2**31),
)
def test_a_prompt_gives_its_sample_and_its_answer_back(categories, data, unseen, scale, seed):
    asked, confusing = data.draw(st.integers(1, categories)), data.draw(st.integers(0, 3))
    sizes = {"categories": categories, "asked": asked, "confusing": confusing}
    task = make_task("mixed", **sizes, queries=("sum", "min", "max"))
    batch = task.sample(4, generator=torch.Generator().manual_seed(seed), unseen=unseen, scale=scale)
    written = write_prompts(task, batch)
    for place, (text, whole) in enumerate(zip(written.texts, written.answered(), strict=True)):
        assert len(re.findall(r"Cat\w, \d\d\.\d\d[,.]", text)) == categories
        again = task.parse(re.sub(r"(Cat\w), (\d)", r"\1 \2", text))
        assert torch.equal(again.input[0, :, 0], batch.input[place, :, 0])
        assert torch.allclose(again.input[0, :, 1], batch.input[place, :, 1], atol=0.00501)
        assert float(again.target[0, 0, 0]) == pytest.approx(float(written.answers[place]), abs=1e-4)
        answer = whole.removeprefix(text)
        assert re.fullmatch(r" Answer: \d{3}\.\d\d", answer)
        assert read_answer(answer) == pytest.approx(float(written.answers[place]), abs=1e-6)
        assert len(answer) < ANSWER_TOKENS


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" Answer: 012.50", 12.5),
        ("Answer: 7", 7.0),
        (" Answer: -1.50 ", -1.5),
        (" Answer: 1.2.3", math.nan),
        (" Answer: ", math.nan),
        (" Answer: nan", math.nan),
        (" Answer: 1.5, Cata", math.nan),
        ("12.50", math.nan),
        ("", math.nan),
    ],
)
def test_answers_are_numbers_or_nothing(text, number):
    assert read_answer(text) == pytest.approx(number, nan_ok=True)


# Errors of answers


PLACE = {"axis": "beyond", "value": 2.0, "in_distribution": False, "lengths": (8,)}


@given(
    rows=st.lists(
        st.tuples(st.floats(0, 60) | st.just(math.nan), st.integers(0, 5000).map(lambda n: n / 100)),
        min_size=1,
        max_size=12,
    )
)
def test_errors_are_those_of_the_answers_that_are_numbers(rows):
    answers, right = (torch.tensor(column, dtype=torch.float64) for column in zip(*rows, strict=True))
    point, errors = judge_answers(answers, right, relative=0.1, absolute=0.1, **PLACE)
    read = [(a, y) for a, y in rows if not math.isnan(a)]
    assert (point.count, point.numbers) == (len(rows), pytest.approx(len(read) / len(rows)))
    near = sum(abs(a - y) <= 0.1 + 0.1 * y for a, y in read)
    assert point.accuracy == pytest.approx(near / len(rows))
    mse = sum((a - y) ** 2 for a, y in read) / len(read) if read else math.nan
    assert point.mse == pytest.approx(mse, nan_ok=True)
    assert point.score == pytest.approx(mse, nan_ok=True)
    assert float(errors.mean()) == pytest.approx(mse, nan_ok=True)
    shares = [100 * abs(a - y) / y for a, y in read if y]
    mape = sum(shares) / len(shares) if shares else math.nan
    assert point.percentage_error == pytest.approx(mape, nan_ok=True)
    for (a, y), error in zip(rows, errors.tolist(), strict=True):
        assert error == pytest.approx(mse if math.isnan(a) else (a - y) ** 2, nan_ok=True)


# The model


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


# Fine-tuning


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


# What is at hand


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """An empty cache of the hub, and no folder that is named."""
    import huggingface_hub.constants

    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def cache(hub, folder, repository):
    """Put a model where the hub's cache would have it."""
    home = hub / f"models--{repository.replace('/', '--')}"
    (home / "refs").mkdir(parents=True)
    (home / "refs" / "main").write_text("abc")
    (home / "snapshots").mkdir()
    (home / "snapshots" / "abc").symlink_to(folder)
    return home / "snapshots" / "abc"


@pytest.mark.parametrize("repository", gpt2.REPOSITORIES)
def test_the_published_weights_are_taken_from_the_cache_where_there_is_a_gpu(
    hub, folder, monkeypatch, repository
):
    with pytest.raises(NotAtHandError, match="weights of gpt2-large are not on this machine"):
        find_weights(by_name=False)
    there = cache(hub, folder, repository)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(NotAtHandError, match="needs a GPU"):
        find_weights(by_name=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_weights(by_name=False) == there
    with pytest.raises(NotAtHandError, match=f"only where {VARIABLE} names"):
        find_weights(by_name=True)


def test_without_the_package_the_column_is_left_out_unless_it_is_named(hub, folder, monkeypatch):
    monkeypatch.setattr(gpt2, "find_spec", lambda name: None)
    with pytest.raises(NotAtHandError, match=r"pip install 'ordinate\[hf\]'"):
        find_weights(by_name=False)
    monkeypatch.setenv(VARIABLE, str(folder))
    with pytest.raises(OrdinateError, match=r"pip install 'ordinate\[hf\]'") as error:
        find_weights(by_name=False)
    assert not isinstance(error.value, NotAtHandError)


def test_fingerprints_tell_weights_apart_and_not_folders(folder, tmp_path):
    for name in ("same", "other"):
        (tmp_path / name).mkdir()
        for path in folder.iterdir():
            (tmp_path / name / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "other" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    assert fingerprint(tmp_path / "same") == fingerprint(folder) != fingerprint(tmp_path / "other")


def broken(folder, tmp_path, name):
    """Folders that hold no GPT-2, each with what is said of it."""
    if name == "missing":
        return tmp_path / "nowhere"
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    if name == "pickled":
        (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    if name == "bert":
        config = json.loads((tmp_path / "config.json").read_text())
        (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "bert"}))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("missing", "must name a folder with config.json and *.safetensors"),
        ("pickled", "must name a folder with config.json and *.safetensors"),
        ("bert", "holds a model of type 'bert'"),
    ],
)
def test_a_named_folder_without_a_gpt2_is_refused(folder, tmp_path, monkeypatch, capsys, name, line):
    from ordinate.cli.main import main

    monkeypatch.setenv(VARIABLE, str(broken(folder, tmp_path, name)))
    command = ["reproduce", "positional/mixed-type", "--scale", "smoke", "--out", str(tmp_path / "out")]
    code = main(command)
    said = capsys.readouterr()
    answer = Answer(code, said.out, said.err)
    assert answer.code == 2
    assert line in answer.error


def test_weights_that_cannot_be_loaded_are_said_in_one_line(folder, tmp_path):
    broken(folder, tmp_path, "whole")
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(OrdinateError, match="holds no GPT-2 that transformers can load") as error:
        LanguageModel(tmp_path, CPU)
    assert "\n" not in str(error.value)


# The figure


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    """The figure with GPT-2, drawn twice, and without it."""
    out = tmp_path_factory.mktemp("mixed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(folder))
        first = FIGURE.reproduce("smoke", out, engine=Inline())
        left = FIGURE.jobs("smoke", out)
        patch.delenv(VARIABLE)
        return first, left, FIGURE.reproduce("smoke", out, engine=Inline())


def test_the_column_is_there_where_a_folder_is_named(made):
    document = made[0].document
    titles = {sheet["title"]: [line["label"] for line in sheet["lines"]] for sheet in document["sheets"]}
    assert titles == {
        "min": ["positional", "standard", "GPT-2"],
        "GPT-2: percentage error": ["GPT-2, min"],
        "GPT-2: numbers": ["GPT-2, min"],
    }
    assert made[1] == []
    numbers = document["sheets"][2]["lines"][0]
    assert len(numbers["values"][0]) == 10
    assert not numbers["failed"]
    assert all(0 <= share <= 1 for share in numbers["values"][0])
    sentences = [claim.sentence for claim in made[0].claims]
    assert sum("better than GPT-2" in sentence for sentence in sentences) == 2
    notes = " ".join(FIGURE.notes(document))
    assert "left out of its errors" in notes
    assert "2 layers of width 32" in notes
    assert "GPT-2 is left out" not in notes
    assert "adamw" in document["settings"]["optimizer"]


def test_the_column_is_left_out_where_none_is_and_the_report_says_so(made):
    document = made[2].document
    assert [[line["label"] for line in sheet["lines"]] for sheet in document["sheets"]] == [
        ["positional", "standard"]
    ]
    said = [note for note in FIGURE.notes(document) if "GPT-2" in note]
    assert len(said) == 1
    assert f"GPT-2 is left out: at this scale it is fine-tuned only where {VARIABLE} names" in said[0]
    assert "GPT-2 is left out" in made[2].files["html"].read_text()
    assert not any("GPT-2" in claim.sentence for claim in made[2].claims)


def test_jobs_can_be_sent_to_workers_and_seeds_are_those_of_the_others(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(folder))
    plan = FIGURE.plan("laptop")
    assert len(plan.recipes) == 9
    assert set(plan.calls) == {"mixed-min-gpt2", "mixed-sum-gpt2", "mixed-both-gpt2"}
    jobs = [job for job in FIGURE.study("smoke", tmp_path).jobs() if "gpt2" in job.name]
    assert [job.name for job in jobs] == ["mixed-min-gpt2 seed 0"]
    call, given = pickle.loads(pickle.dumps((jobs[0].call, jobs[0].kwargs)))
    assert (call.func, call.keywords) == (fine_tuning.fine_tune_job, {"folder": str(folder.resolve())})
    assert FineTuning.parse(given["recipe"]).training.steps == 4
