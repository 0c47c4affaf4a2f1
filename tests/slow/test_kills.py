"""Every kind of model, killed at 200 random moments, ends as if it had never been killed."""

import multiprocessing
import os
import random
import signal

import pytest
import torch
import torch._dynamo  # an optimiser imports it at its first step: once here, and not in every process

from ordinate.lab.architectures import MODELS
from ordinate.lab.runs import Store
from ordinate.lab.training import Recipe, train

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
        {"average": 0.9, "pick": {"value": 4, "count": 20, "every": 4}},
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
    "scan": (
        {"name": "machine", "of": "addition", "length": 4, "shortest": 1},
        {"kind": "scan", "width": 4, "hidden": 16},
        {},
    ),
}


def recipe(kind):
    task, model, training = RECIPES[kind]
    return Recipe.parse(
        {
            "name": "killed",
            "task": task,
            "model": model,
            "training": {
                "steps": 16,
                "batch": 16,
                "device": "cpu",
                "log_every": 5,
                "checkpoint_every": 10,
                "save_seconds": 0.1,
                **training,
            },
            "evaluation": {"count": 50, "every": 7},
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


def work(recipe, store, seconds, dies_between_ends):
    def report(**facts):
        if dies_between_ends and "scores" in facts and facts["step"] == facts["steps"]:
            os.kill(os.getpid(), signal.SIGKILL)

    if seconds is not None:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends a process as it stands, like SIGKILL
        signal.setitimer(signal.ITIMER_PROF, seconds)
    train(recipe, SEEDS, store=str(store), resume=True, report=report)


def trained(recipe, store, seconds=None, dies_between_ends=False):
    """Whether a process of its own came to the end; one that was killed did not. Forked, it has nothing to import."""
    process = multiprocessing.get_context("fork").Process(
        target=work, args=(recipe, store, seconds, dies_between_ends)
    )
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL, -signal.SIGPROF)
    return process.exitcode == 0


def test_every_kind_of_model_is_killed():
    assert {model["kind"] for _, model, _ in RECIPES.values()} == set(MODELS)


@pytest.mark.parametrize("kind", RECIPES)
def test_killed_at_random_moments(tmp_path, kind):
    r = recipe(kind)
    torch.set_num_threads(1)
    before = os.times().children_user + os.times().children_system
    assert trained(r, tmp_path / "whole")
    duration = os.times().children_user + os.times().children_system - before
    whole = [everything(Store(tmp_path / "whole").open(r.to_dict(), seed)) for seed in SEEDS]
    chance = random.Random(kind)
    kills = between = number = 0
    while kills < KILLS:
        number += 1
        store = Store(tmp_path / f"killed-{number}")
        while True:
            first = (
                kills == 0
            )  # once in every recipe between the end of the first seed and that of the second
            moment = chance.uniform(0, duration) if not first and kills < KILLS else None
            if trained(r, store.root, moment, dies_between_ends=first):
                break
            kills += 1
            between += [store.open(r.to_dict(), seed).status for seed in SEEDS].count("done") in (1, 2)
        # Nothing is left to train; what a kill at the very end has left is removed.
        runs = train(r, SEEDS, store=store, resume=True)
        for seed, (a, run) in enumerate(zip(whole, runs, strict=True)):
            b = everything(run)
            for part in a:
                assert same(a[part], b[part]), (kind, number, seed, part)
    assert between
