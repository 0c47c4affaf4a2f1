"""What a command prints with --json is what a Python user gets from a function."""

import json

from ordinate.lab.structure.discovery import discover
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.samples import drawn
from ordinate.lab.zoo import evaluate, find_model
from ordinate.papers.construct import adaptive_target, construct_adaptive, construct_fixed


def plain(document):
    """As it is read back from JSON."""
    return json.loads(json.dumps(document))


def test_sample(call):
    samples = drawn(make_task("addition"), 2, length=4, seed=3, cascade=2)
    said = call(
        *[
            "sample",
            "addition",
            "--length",
            "4",
            "--count",
            "2",
            "--seed",
            "3",
            "--axis",
            "cascade=2",
            "--json",
        ]
    )
    assert said.json == plain(samples.to_dict())


def test_discover(call):
    found = discover(make_task("sum"), count=200, threshold=0.1, seed=1)
    said = call("discover", "sum", "--count", 200, "--threshold", 0.1, "--seed", 1, "--json")
    assert said.json == plain({**found.to_dict(), "seed": 1})


def test_evaluate(call):
    found = find_model("addition-relation")
    scores = evaluate(found, {"length": [5, 10]}, "cascade", count=20, seed=1)
    again = call(
        *("evaluate", "addition-relation", "--axis", "length=5,10", "--slice", "cascade"),
        *("--count", 20, "--seed", 1, "--json"),
    )
    assert again.json == plain(scores.to_dict())
    assert [point.value for point in scores.points] == [5, 10]
    assert [table.in_distribution for table in scores.slices] == [False, True]


def test_construct_fixed(call):
    built = construct_fixed([2, 3], heads=4, length=10, normalised=False)
    said = call("construct", "fixed", "--lags", "2,3", "--heads", 4, "--length", 10, "--free", "--json")
    assert said.json == plain(built.document)
    weights = {float(value) for value in built.document["weights"]["slopes"]}
    assert {float(row) for row in built.document["constructions"][2]["slopes"]} == weights


def test_construct_adaptive(call):
    task = adaptive_target(nesting=1, lags=[1, 2], length=8)
    built = construct_adaptive(task, heads=5, length=8, tmx=True)
    sizes = ("--nesting", 1, "--lags", "1,2", "--heads", 5, "--length", 8)
    said = call("construct", "adaptive", *sizes, "--tmx", "--json")
    assert said.json == plain(built.document)
    assert built.document["model"]["parameters"] == sum(p.numel() for p in built.model.parameters())
