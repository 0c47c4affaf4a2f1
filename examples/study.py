"""Widths of positional attention under an equal number of steps: `ordinate study examples/study.py`."""

import ordinate as od
from ordinate.lab.studies import StudyPlan

task = od.make_task("sum", length=4)
training = od.Training(steps=100, batch=64)
evaluation = od.Evaluation(count=200, axes={"scale": (2.0, 4.0)})
models = {f"width-{width}": od.Positional(width=width, hidden=width, layers=1) for width in (8, 16, 32)}
recipes = [
    od.Recipe(name=name, task=task, model=model, training=training, evaluation=evaluation)
    for name, model in models.items()
]
plan = StudyPlan(name="widths", recipes=recipes, seeds=3, budget="steps")
