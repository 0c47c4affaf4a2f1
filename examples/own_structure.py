"""Declare the structure of your own task, check it, train on 8 numbers and run on 800."""

import torch

from ordinate.attention import Class
from ordinate.encodings import Pairwise
from ordinate.lab.evaluation import sweep
from ordinate.lab.structure import check
from ordinate.lab.tasks import task
from ordinate.lab.training import Recipe, Training, load_model, train
from ordinate.models import ResidualEncoder
from ordinate.relations import aligned, window


@task("smooth")
def smooth(x):
    """Mean of a number and up to two before it: 3 0 6 gives 3 1.5 3."""
    sums = torch.nn.functional.pad(x, (2, 0)).unfold(1, 3, 1).sum(-1)
    return sums / torch.arange(1, x.shape[1] + 1, device=x.device).clamp(max=3)


short = smooth(length=8)
structure = aligned("number") * window(back=2)
print(structure.show(short.coordinates(5)))
for finding in check(aligned("number") * window(back=1), short, layers=1):
    print(f"one place back is not enough. {finding}")
assert not check(structure, short, layers=1), "the task has the structure that was declared"

model = ResidualEncoder(
    layers=1, width=32, hidden=64, attention=Class(), encoding=(Pairwise(relation=structure),)
)
run = train(Recipe(name="smooth", task=short, model=model, training=Training(steps=300)), seeds=[0])[0]
for point in sweep(load_model(run), short, "length", [8, 80, 800]):
    print(f"{point.value:g} numbers: mean squared error {point.mse:.4f}")
