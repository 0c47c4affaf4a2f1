"""Every kind of model, killed at 200 random moments, ends as if it had never been killed."""

import multiprocessing
import os
import random
import signal
import time

import pytest
import torch

from ordinate.lab.runs import Store
from ordinate.lab.training import Recipe, train
from ordinate.models import MODELS

KILLS = 25
"""For each of the eight recipes."""
SEEDS = [0, 1, 2]

SUM = {"name": "sum", "length": 4}
ADDITION = {"name": "addition", "digits": 2}
SMALL = {"layers": 2, "heads": 2, "width": 8, "hidden": 8}

RECIPES = {
    "positional": (SUM, {"kind": "positional", **SMALL}, {"average": 0.9, "clip": 0.5}),
    "standard": (
        {**SUM, "variable": True},
        {"kind": "standard", **SMALL, "encoding": "sinusoidal"},
        {"samples": 60, "schedule": {"kind": "plateau", "patience": 0, "factor": 0.8}},
    ),
    "hybrid": (SUM, {"kind": "hybrid", **SMALL}, {"optimizer": {"kind": "muon"}}),
    "encoder": (
        ADDITION,
        {"kind": "encoder", **SMALL, "encoding": "shaw", "dropout": 0.1, "loops": 2, "idle": 0.1},
        {"average": 0.9, "pick": {"value": 4, "count": 20, "every": 7}},
    ),
    "encoder in bfloat16": (
        ADDITION,
        {"kind": "encoder", **SMALL, "encoding": "randomized"},
        {"precision": "bfloat16", "optimizer": {"kind": "muon"}},
    ),
    "decoder": ({"name": "k-hop", "length": 8, "hops": 1}, {"kind": "decoder", **SMALL}, {}),
    "positional-decoder": (
        {"name": "k-hop", "length": 8, "hops": 1},
        {"kind": "positional-decoder", **SMALL},
        {"average": 0.9},
    ),
    "memory": ({"name": "fixed-memory", "length": 16, "lags": [2, 5]}, {"kind": "memory", **SMALL}, {}),
}


def recipe(kind):
    task, model, training = RECIPES[kind]
    return Recipe.parse(
        {
            "name": "killed",
            "task": task,
            "model": model,
            "training": {
                "steps": 30,
                "batch": 16,
                "device": "cpu",
                "log_every": 7,
                "checkpoint_every": 20,
                "save_seconds": 0.02,
                **training,
            },
            "evaluation": {"count": 50, "every": 13},
        }
    )


def everything(run):
    """All that a run leaves behind, but for the clock: rows, weights, per-sample errors, results and scores."""
    return {
        "rows": [{k: v for k, v in row.items() if k != "seconds"} for row in run.metrics()],
        "weights": {step: run.load_checkpoint(step)[0] for step in run.checkpoints()},
        "errors": {
            path.stem: run.load_arrays(path.stem) for path in (run.path / "arrays").glob("*.safetensors")
        },
        "results": {name: run.read_result(name) for name in run.results()},
        "record": {k: v for k, v in run.record().items() if k in ("status", "step", "scores", "picked")},
        "files": sorted(
            str(path.relative_to(run.path))
            for path in run.path.rglob("*")
            if path.name != "lock" and path.is_file()
        ),
    }


def same(a, b):
    if isinstance(a, torch.Tensor):
        return torch.equal(a, b)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return a == b


def work(document, store, dies_between_ends):
    torch.set_num_threads(1)

    def report(**facts):
        if dies_between_ends and "scores" in facts and facts["step"] == facts["steps"]:
            os.kill(os.getpid(), signal.SIGKILL)

    train(Recipe.parse(document), SEEDS, store=store, resume=True, report=report)


def start(r, store, dies_between_ends=False):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch._dynamo", "ordinate.lab.training"])
    process = context.Process(target=work, args=(r.to_dict(), str(store), dies_between_ends))
    process.start()
    return process


def test_every_kind_of_model_is_killed():
    assert {model["kind"] for _, model, _ in RECIPES.values()} == set(MODELS)


@pytest.mark.parametrize("kind", RECIPES)
def test_killed_at_random_moments(tmp_path, kind):
    r = recipe(kind)
    torch.set_num_threads(1)
    begun = time.monotonic()
    whole = [everything(run) for run in train(r, SEEDS, store=str(tmp_path / "whole"))]
    duration = time.monotonic() - begun
    chance = random.Random(kind)
    kills = between = number = 0
    while kills < KILLS:
        number += 1
        store = Store(tmp_path / f"killed-{number}")
        while True:
            first = (
                kills == 0
            )  # once in every recipe it falls between the end of the first seed and the second
            process = start(r, store.root, dies_between_ends=first)
            if not first and kills < KILLS:
                process.join(chance.uniform(0, 0.7 * duration))
                process.kill()
            process.join()
            if process.exitcode == 0:
                break
            assert process.exitcode == -signal.SIGKILL
            kills += 1
            between += [store.open(r.to_dict(), k).status for k in SEEDS].count("done") in (1, 2)
        # Nothing is left to train; what a kill at the very end has left is removed.
        runs = train(r, SEEDS, store=store, resume=True)
        for seed, (a, run) in enumerate(zip(whole, runs, strict=True)):
            b = everything(run)
            for part in a:
                assert same(a[part], b[part]), (kind, number, seed, part)
    assert between
