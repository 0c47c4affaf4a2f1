"""Build, train and evaluate a model in ten lines, without the command line."""

import ordinate as od

task = od.make_task("sum", length=8)
recipe = od.Recipe(name="quickstart", task=task, model=od.Positional(), training=od.Training(steps=300))
run = od.train(recipe, seeds=[0])[0]
for point in od.sweep(od.load(run), task, "scale", [1.0, 2.0, 10.0]):
    print(f"values up to {2 * point.value:g}: mean squared error {point.mse:.3g}")
