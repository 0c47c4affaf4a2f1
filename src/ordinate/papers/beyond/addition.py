"""Addition learned on at most 5 digits: right on 1000, and for a looped model right on long cascades of carries.

The curves of this folder are of one encoder, of which only the encoding and the form of attention differ.
"""

from functools import lru_cache
from typing import Any

from ordinate.attention import Content, ContentClass
from ordinate.encodings import Encoding, Pairwise, Shaw, Sinusoidal
from ordinate.lab.report.style import BLACK, BLUE, SKY, VERMILION
from ordinate.lab.structure.discovery import discover
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import AdamW, Evaluation, Linear, Recipe, Training
from ordinate.models import ResidualEncoder
from ordinate.papers.aims import at_least, at_most
from ordinate.papers.curves import Curve, Curves, curves_figure
from ordinate.papers.figure import SMOKE
from ordinate.relations import Relation, aligned, leap, window

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


TASK = make_task("addition", digits=5, width=8, sampler={"kind": "mixture", "of": "chains"})
BACK, LAYERS = 4, 4
REACH = BACK * LAYERS
"""How far a carry can be seen: `BACK` places in every layer."""
RELATION = aligned(SKY, "second") * window(back=BACK)
CASCADES = tuple(float(k) for k in range(1, 21))

DECLARED = (
    "told that digits are related by significance, four places back, in both numbers; the model finds out itself what "
    "to do with them"
)
FOUND = "told nothing: the relation was found by `ordinate discover addition` from sums of at most 5 digits"


@lru_cache(maxsize=1)
def discovered() -> Relation:
    """The relation that `ordinate discover addition` proposes."""
    return discover(make_task("addition", digits=5, width=8)).relation


def three_models(steps: int, **options: Any) -> Curves:
    """One seed of a declared relation, of relative and of absolute positions."""
    return Curves(
        (
            Curve(related("relation", TASK, RELATION, steps, **options), 1, BLUE, DECLARED),
            Curve(shaw(TASK, steps, **options), 1, VERMILION, NOTHING),
            Curve(absolute(TASK, steps, **options), 1, BLACK, NOTHING),
        ),
    )


@curves_figure(
    "beyond/addition-1000",
    "Additions learned on at most 5 digits, measured far beyond",
    "Exact match of sums of two numbers, for models trained on numbers of at most 5 digits at 17 tokens: attention "
    "that asks the content which class of a declared relation to look at, against Shaw keys and sinusoidal "
    "positions over all pairs.",
    {
        "smoke": SMOKE,
        "demo": "one seed of three models, some minutes; no verdict",
        "laptop": "five seeds of the declared relation, three of the others, about an hour on 2 cores",
    },
)
def addition_1000(scale: str) -> Curves:
    """Declared and discovered relations against relative and absolute positions."""
    if scale == "smoke":
        return three_models(20, layers=1, width=16, hidden=16, count=20, lengths=(10.0,))
    if scale == "demo":
        return three_models(2500, lengths=LENGTHS[:5], count=100)
    steps = 7000
    far: dict[str, Any] = {"lengths": LENGTHS}
    near: dict[str, Any] = {"lengths": NEAR, "count": 200}
    declared = related("relation", TASK, RELATION, steps, cascades=CASCADES, layers=LAYERS, **far)
    return Curves(
        (
            Curve(declared, 5, BLUE, DECLARED, reach=REACH),
            Curve(related("discovered", TASK, discovered(), steps, **far), 3, SKY, FOUND),
            Curve(shaw(TASK, steps, **near), 3, VERMILION, NOTHING),
            Curve(absolute(TASK, steps, **near), 3, BLACK, NOTHING),
        ),
        (
            at_least("relation", "length=100", 0.99, "Declared relation: at least 99 % exact at 100 digits."),
            at_least(
                "relation", "length=1000", 0.95, "Declared relation: at least 95 % exact at 1000 digits."
            ),
            at_most(
                "relation", "seconds", 600.0, "Declared relation: at most 10 minutes of training a seed."
            ),
            at_least(
                "discovered", "length=1000", 0.95, "Discovered relation: at least 95 % exact at 1000 digits."
            ),
            at_most("shaw", "length=20", 0.5, "Without it, Shaw keys: at most half exact at 20 digits."),
            at_most(
                "sinusoidal",
                "length=20",
                0.5,
                "Without it, absolute positions: at most half exact at 20 digits.",
            ),
        ),
        {"out of reach": f"cascades longer than {REACH}: {BACK} places back in each of {LAYERS} layers"},
    )


LEAPS = leap("first", "second")
LOOPS = 6
LOOPED = (
    "told that digits are related by significance, and that carries can be put together over 1, 2, 4, ... places: the "
    f"middle one of three layers is gone through {LOOPS} times, and looks back twice as far each time (in training "
    "5 to 10 times, some distances twice and some loops idle); every loop starts from what entered the first one, so "
    "that nothing but what is attended to is carried over"
)
LOOPED_REACH = 2**LOOPS - 1
LOOPED_MODEL: dict[str, Any] = {
    "layers": 3,
    "unlooped_layers": (1, 1),
    "loops": LOOPS,
    "trained_loops": (5, 10),
    "repeat_loop_prob": 0.4,
    "null_loop_prob": 0.35,
    "inject_input": True,
}
"""Without `inject_input` states drift; with a fixed number of loops only that number works; without null loops layers
learn when their work is done. In none of these cases do late loops do what early ones have learned."""


@curves_figure(
    "beyond/cascades",
    "Cascades of carries longer than any in training",
    "Exact match of sums of 40 digits by the length of their longest cascade, for models trained on numbers of at "
    "most 5 digits: one layer gone through again and again, that looks back twice as far each time.",
    {"smoke": SMOKE, "laptop": "three seeds, about half an hour on 2 cores"},
)
def cascades(scale: str) -> Curves:
    """A carry that travels twenty places, for models that have seen it travel five."""
    if scale == "smoke":
        small: dict[str, Any] = {"width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}
        looped = related("looped", TASK, LEAPS, 20, cascades=(1.0, 20.0), **small, **LOOPED_MODEL)
        return Curves((Curve(looped, 1, SKY, LOOPED),))
    far: dict[str, Any] = {"cascades": (*CASCADES, 25.0, 30.0, 35.0), "count": 300, "lengths": LENGTHS}
    return Curves(
        (
            Curve(
                related("looped", TASK, LEAPS, 4000, **far, **LOOPED_MODEL),
                3,
                SKY,
                LOOPED,
                reach=LOOPED_REACH,
            ),
        ),
        (at_least("looped", "cascade=20", 0.9, "Looped: at least 90 % exact at cascades of 20 places."),),
    )


FIGURES = (addition_1000, cascades)
