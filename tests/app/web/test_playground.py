"""The playground: right answers stay right, wrong places are the wrong ones, and a model that cannot says why."""

import asyncio
import threading
import time

import pytest
import torch

from ordinate.app.web.playground import answered, exact, measured, question
from ordinate.app.web.worker import BusyError, GoneError, Worker
from ordinate.errors import OrdinateError
from ordinate.lab.tasks import make_task

RELATION, ABSOLUTE = "package:addition-relation", "package:addition-absolute"


def ask(client, **question):
    answer = client.post("/api/answer", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def oracle(task, *, off=()):
    """A model that answers exactly, but for some places counted from the left."""

    def model(x, coordinates):
        target = task.reference(x, coordinates)
        if target.is_floating_point():
            return target + (5.0 if off else 0.0)
        scores = torch.nn.functional.one_hot(target, task.outputs).float()
        place = task.scored(coordinates)[:, 0].nonzero()[:, 0]
        for wrong in off:
            scores[:, place[wrong]] = scores[:, place[wrong]].roll(1, -1)
        return scores

    return model


@pytest.mark.parametrize("name", ["addition", "subtraction", "multiplication", "sort", "k-hop", "bfs", "lcs"])
def test_an_exact_model_is_right_and_one_that_is_off_is_wrong(name):
    task = make_task(name)
    batch = task.sample(1, generator=torch.Generator().manual_seed(3))
    right = answered(oracle(task), task, batch)
    assert right == exact(task, batch)
    assert right.symbols
    assert answered(oracle(task, off=(0,)), task, batch).wrong


def test_wrong_places_are_counted_from_the_left():
    task = make_task("addition")
    batch = task.parse("123+4095")
    written = answered(oracle(task, off=(6, 8)), task, batch)
    assert written.symbols[5:] == ["4", "3", "1", "9"]
    assert written.wrong == [6, 8]
    assert exact(task, batch).symbols == ["", "", "", "", "", "4", "2", "1", "8"]
    rows = {row["name"]: "".join(row["symbols"]) for row in question(task, batch)}
    assert rows == {"first": "123", "second": "4095"}
    assert {len(row["symbols"]) for row in question(task, batch)} == {9}


def test_shares_are_of_whole_answers_and_of_symbols():
    task = make_task("addition")
    shares = measured(oracle(task, off=(4,)), task, 5, 10, seed=0)
    assert (shares["count"], shares["exact"]) == (10, 0)
    assert shares["symbols"] == pytest.approx(8 / 9)
    assert measured(oracle(make_task("sort")), make_task("sort"), 8, 5, seed=0)["exact"] == 1


def test_a_typed_sum_is_answered_by_both_models(client):
    answer = ask(client, models=[RELATION, ABSOLUTE], text="123+4095")
    assert (answer["right"], answer["tokens"]) == ("4218", 17)
    for model in answer["models"]:
        assert "".join(model["symbols"]) == "4218"
        assert model["wrong"] == []


def test_far_beyond_training_one_model_is_right_and_the_other_breaks(client):
    answer = ask(client, models=[RELATION, ABSOLUTE], length=200, count=4, seed=1)
    related, absolute = answer["models"]
    assert len(answer["exact"]) == 202
    assert related["measured"]["exact"] >= 0.75
    assert absolute["measured"]["exact"] == 0
    assert len(absolute["wrong"]) > 100


def test_the_same_question_has_the_same_answer(client):
    first, again, other = (ask(client, models=[RELATION], length=30, seed=seed) for seed in (7, 7, 8))
    assert first["input"] == again["input"] != other["input"]


def test_a_task_without_a_model_shows_the_exact_answer(client):
    answer = ask(client, task="sort", text="3 1 2")
    assert (answer["exact"], answer["tolerance"]) == (["1.00", "2.00", "3.00"], 0.1)
    assert answer["models"] == []
    assert ask(client, text="1+2")["tolerance"] is None


def test_runs_play_too_and_one_that_cannot_says_why_beside_one_that_can(client, done):
    answer = ask(client, models=[f"run:{done}", "run:gone-0123456789/seed-0"], text="12+7")
    assert answer["models"][0]["title"] == "tiny, seed 0"
    assert "error" not in answer["models"][0]
    assert answer["models"][1]["error"].startswith("there is no run")


def test_the_catalogue_has_the_models_of_the_package_first(client, done):
    found = client.get("/api/models").json()
    assert [model["id"] for model in found["models"][:2]] == [ABSOLUTE, RELATION]
    assert f"run:{done}" in [model["id"] for model in found["models"]]
    addition = next(task for task in found["tasks"] if task["name"] == "addition")
    assert addition["fields"] == ["first", "second"]
    assert (addition["lengths"], addition["trained"], addition["longest"]) == (True, 5, 1000)


def test_attention_has_a_row_for_every_token_in_every_head(client):
    found = client.post("/api/attention", json={"model": RELATION, "text": "123+4095"}).json()
    assert len(found["attention"]) == 4
    for head in found["attention"][0]:
        assert [sum(row) for row in head] == pytest.approx([1.0] * 17, abs=1e-3)
    assert len(found["tokens"]) == 17


class Client:
    """A request as far as the worker looks at it."""

    def __init__(self, here=True):
        self.here = here

    async def is_disconnected(self):
        return not self.here


class TestWorker:
    def test_results_and_errors_come_back(self):
        def refuse():
            raise OrdinateError("no")

        async def both():
            worker = Worker()
            assert await worker.run(Client(), lambda: 3) == 3
            with pytest.raises(OrdinateError):
                await worker.run(Client(), refuse)
            assert await worker.run(Client(), lambda: 4) == 4

        asyncio.run(both())

    def test_the_loop_turns_while_a_job_runs_and_the_queue_is_bounded(self):
        gate = threading.Event()

        async def many():
            worker = Worker(waiting=2)
            jobs = [asyncio.create_task(worker.run(Client(), lambda: gate.wait(10))) for _ in range(3)]
            await asyncio.sleep(0.05)
            with pytest.raises(BusyError, match="3 long questions are before this one"):
                await worker.run(Client(), lambda: None)
            gate.set()
            assert await asyncio.gather(*jobs) == [True] * 3
            assert await worker.run(Client(), lambda: 1) == 1

        asyncio.run(many())

    def test_who_leaves_before_the_turn_is_forgotten(self, monkeypatch):
        monkeypatch.setattr("ordinate.app.web.worker.LOOK_AROUND", 0.01)
        gate, called = threading.Event(), []

        async def leave():
            worker = Worker()
            first = asyncio.create_task(worker.run(Client(), lambda: gate.wait(10)))
            await asyncio.sleep(0.05)
            with pytest.raises(GoneError):
                await worker.run(Client(here=False), lambda: called.append(1))
            gate.set()
            await first
            assert await worker.run(Client(), lambda: 2) == 2

        started = time.monotonic()
        asyncio.run(leave())
        assert time.monotonic() - started < 5
        assert called == []
