"""What can be wrong with the files of one run: a name, the file, and what it holds."""

import json

DONE = {
    "status": "done",
    "step": 9,
    "created": "2024-05-01T10:00:00.000+00:00",
    "scores": {"validation": 0.5},
}


def record(**facts):
    return json.dumps({**DONE, **facts})


RECORDS = {
    "a step that no integer holds": record(step=10**30),
    "a step below zero": record(step=-1),
    "a step that is a truth": record(step=True),
    "a number of samples that is text": record(samples_seen="many"),
    "half a character": '{"status": "failed", "step": 1, "error": "\\ud800"}',
    "lists 3000 deep": '{"status": "done", "x": ' + "[" * 3000 + "]" * 3000 + "}",
    "lists 900 deep": '{"status": "done", "x": ' + "[" * 900 + "]" * 900 + "}",
    "a score that is text": record(scores={"validation": "abc"}),
    "a score that no float holds": record(scores={"validation": 10**400}),
    "scores that are a list": record(scores=[0.5]),
    "seconds that are text": record(seconds="soon"),
    "an environment that is a list": record(environment=["linux"]),
    "companions that are a number": record(together=5),
    "a newer version": record(version=99, status="archived"),
    "a version that is text": record(version="two"),
    "an unknown status": record(status="archived"),
    "no status": record(status=None),
    "a failure without a step": '{"status": "failed", "error": "by hand"}',
    "a list": "[]",
    "half a record": '{"status": "do',
}
RECIPES = {
    "nothing": "",
    "a date": 'name = "sum"\nwhen = 2020-01-01\n',
    "a recipe 5000 deep": 'name = "sum"\nx = ' + "[" * 5000 + "]" * 5000,
    "a recipe 200 deep": 'name = "sum"\nx = ' + "[" * 200 + "]" * 200,
    "no name": "[task]\nname = 'sum'\n",
    "a name that is a number": "name = nan\n",
    "no TOML": "{",
}
DAMAGES = [("run.json", name, text) for name, text in RECORDS.items()]
DAMAGES += [("recipe.toml", name, text) for name, text in RECIPES.items()]
NAMES = [name for _, name, _ in DAMAGES]
