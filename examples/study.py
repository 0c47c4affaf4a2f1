"""Widths of positional attention under an equal number of steps: `ordinate study examples/study.py`."""

from ordinate.lab.studies import StudyPlan
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Evaluation, Recipe, Training
from ordinate.models import Positional

task = make_task("sum", length=4)
training, evaluation = Training(steps=100, batch=64), Evaluation(count=200, axes={"scale": (2.0, 4.0)})
models = {f"width-{width}": Positional(width=width, hidden=width, layers=1) for width in (8, 16, 32)}
recipes = [
    Recipe(name=name, task=task, model=model, training=training, evaluation=evaluation)
    for name, model in models.items()
]
plan = StudyPlan(name="widths", recipes=recipes, seeds=3, budget="steps")
