"""Recipes of the curves: one encoder, of which only the encoding and the form of attention differ."""

from typing import Any

from ordinate.attention import Content, ContentClass
from ordinate.encodings import Encoding, Pairwise, Shaw, Sinusoidal
from ordinate.lab.tasks import Task
from ordinate.lab.training import AdamW, Evaluation, Linear, Recipe, Training
from ordinate.models import ResidualEncoder
from ordinate.relations import Relation

LENGTHS = (10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
NEAR = (6.0, 10.0, 20.0, 50.0, 100.0, 200.0)
"""For models over all pairs, whose cost grows with the square of the length."""

TRAINING = Training(
    batch=128,
    optimizer=AdamW(learning_rate=2e-3, betas=(0.9, 0.99), weight_decay=0.1),
    schedule=Linear(warmup=0.03),
    clip=1.0,
    average=0.998,
)

NOTHING = (
    "not told anything of significance: positions are places in the sequence, every token sees all others; up to 7 "
    "digits a line has the number of tokens of training, beyond it is longer"
)


def recipe(
    name: str,
    task: Task,
    encoding: Encoding,
    steps: int,
    lengths: tuple[float, ...],
    *,
    cascades: tuple[float, ...] = (),
    count: int = 500,
    training: Training = TRAINING,
    **model: Any,
) -> Recipe:
    """One curve; `model` changes the sizes that all of them share."""
    axes = {"length": lengths, **({"cascade": cascades} if cascades else {})}
    return Recipe(
        name=name,
        task=task,
        model=ResidualEncoder(**{"hidden": 128, **model}, encoding=(encoding,)),
        training=training.model_copy(update={"steps": steps}),
        evaluation=Evaluation(count=count, axes=axes, length=40 if cascades else None),
    )


def related(name: str, task: Task, relation: Relation | list[Relation], steps: int, **options: Any) -> Recipe:
    """content x class attention over a relation, or one for each group of heads."""
    return recipe(name, task, Pairwise(relation=relation), steps, attention=ContentClass(), **options)


def shaw(task: Task, steps: int, **options: Any) -> Recipe:
    """Relative key vectors over all pairs: distances beyond those trained share a vector."""
    clip = max(len(coordinates) for coordinates in task.trained()) - 1
    return recipe("shaw", task, Shaw(clip=clip), steps, attention=Content(), **options)


def absolute(task: Task, steps: int, **options: Any) -> Recipe:
    """Sinusoidal absolute positions over all pairs."""
    return recipe("sinusoidal", task, Sinusoidal(width=64), steps, attention=Content(), **options)
