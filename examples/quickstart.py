"""Build, train and evaluate a model in ten lines, without the command line."""

from ordinate.lab.evaluation import sweep
from ordinate.lab.tasks import make_task
from ordinate.lab.training import Recipe, Training, load_model, train
from ordinate.models import Positional

task = make_task("sum", length=8)
recipe = Recipe(name="quickstart", task=task, model=Positional(), training=Training(steps=300))
run = train(recipe, seeds=[0])[0]
for point in sweep(load_model(run), task, "scale", [1.0, 2.0, 10.0]):
    print(f"values up to {2 * point.value:g}: mean squared error {point.mse:.3g}")
