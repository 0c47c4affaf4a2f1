"""Multiplication by short multipliers, alone and in one model with addition, and addition in text; at most 5 digits."""

from functools import lru_cache
from typing import Any

from ordinate.lab.evaluation.predicates import AtLeast
from ordinate.lab.report.style import BLUE, SKY, VERMILION
from ordinate.lab.structure.discovery import discover
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import Muon
from ordinate.papers.aims import Keeps, Point, at_least, at_most
from ordinate.papers.beyond.addition import DECLARED as DECLARED_SUMS
from ordinate.papers.beyond.addition import LENGTHS, NEAR, NOTHING, TRAINING, related, shaw
from ordinate.papers.beyond.addition import RELATION as SUMS
from ordinate.papers.curves import Curve, Curves, curves_figure
from ordinate.papers.figure import SMOKE
from ordinate.relations import Relation, aligned, itself, uniform, window

DECLARED = (
    "told that the multiplier acts alike on every place, and that digits of the multiplicand are related by "
    "significance, four places back; the sign is there for heads that find nothing at the edge of the number"
)
FOUND = "told nothing: the relation was found by `ordinate discover multiplication` from at most 5 digits"
RELATION = uniform("multiplier", "sign") | aligned("multiplicand") * window(back=4)
DECLARED_3 = (
    "told that each digit of the multiplier acts alike on every place, and that digits of the multiplicand are "
    "related by significance, two places back in each layer: as many digits as the multiplier has; in training long "
    "multipliers are drawn more often, and half of the products are hard ones, of 16 that whose carries reach furthest"
)
RELATION_3 = uniform("multiplier", "sign") | aligned("multiplicand") * window(back=2)
"""A wider window would see more digits at once than training ever shows together."""


def task(multiplier: int) -> Task:
    """Multipliers of this many digits; longer ones are learned together with shorter ones, and hard products."""
    hard = multiplier > 1
    options = {"mixed": True, "focus": 3, "deep": 0.5, "width": 5} if hard else {"width": 8}
    return make_task("multiplication", multiplier=multiplier, digits=5, **options)


@lru_cache(maxsize=4)
def discovered(multiplier: int) -> Relation:
    """The relation that `ordinate discover multiplication` proposes."""
    return discover(make_task("multiplication", multiplier=multiplier, digits=5, width=8)).relation


def smoke(name: str, task: Task, relation: Relation | list[Relation], knowledge: str, **model: Any) -> Curves:
    """One small model with a relation, which proves the path."""
    small: dict[str, Any] = {"layers": 1, "width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}
    return Curves((Curve(related(name, task, relation, 20, **small, **model), 1, BLUE, knowledge),))


@curves_figure(
    "beyond/multiplication-1",
    "Multiplication by one digit, learned on at most 5 digits",
    "Exact match of products with a multiplier of one digit, for models trained on multiplicands of at most 5 "
    "digits: content x class attention over a declared and a discovered relation, against Shaw keys over all "
    "pairs.",
    {"smoke": SMOKE, "laptop": "three seeds of three models, about half an hour on 2 cores"},
)
def multiplication_1(scale: str) -> Curves:
    """One digit times many."""
    if scale == "smoke":
        return smoke("relation", task(1), RELATION, DECLARED)
    chosen, steps = task(1), 8000
    return Curves(
        (
            Curve(related("relation", chosen, RELATION, steps, lengths=LENGTHS), 3, BLUE, DECLARED),
            Curve(related("discovered", chosen, discovered(1), steps, lengths=LENGTHS), 3, SKY, FOUND),
            Curve(shaw(chosen, steps, lengths=NEAR, count=200), 3, VERMILION, NOTHING),
        ),
        (
            at_least("relation", "length=100", 0.99, "Declared relation: at least 99 % exact at 100 digits."),
            at_most(
                "relation", "seconds", 600.0, "Declared relation: at most 10 minutes of training a seed."
            ),
            at_least(
                "discovered", "length=100", 0.99, "Discovered relation: at least 99 % exact at 100 digits."
            ),
            at_most("shaw", "length=20", 0.5, "Without it, Shaw keys: at most half exact at 20 digits."),
        ),
    )


@curves_figure(
    "beyond/multiplication-3",
    "Multiplication by three digits, learned on at most 5 digits",
    "Exact match of products with a multiplier of three digits, for models trained on multiplicands of at most 5 "
    "digits and multipliers of one to three: content x class attention over a declared relation, against Shaw "
    "keys.",
    {
        "smoke": SMOKE,
        "laptop": "three seeds of the declared relation, one with Shaw keys, about 100 minutes on 2 cores",
    },
)
def multiplication_3(scale: str) -> Curves:
    """Three digits times many."""
    if scale == "smoke":
        return smoke("relation", task(3), RELATION_3, DECLARED_3, gated=True)
    chosen, steps = task(3), 20_000
    sizes: dict[str, Any] = {"layers": 5, "heads": 8, "width": 128, "hidden": 256, "gated": True}
    optimizer = Muon(learning_rate=2e-3, betas=(0.9, 0.99), weight_decay=0.1)
    sizes |= {
        "training": TRAINING.model_copy(update={"batch": 64, "average": 0.9985, "optimizer": optimizer})
    }
    declared = related("relation", chosen, RELATION_3, steps, lengths=LENGTHS[:4], **sizes)
    return Curves(
        (
            Curve(declared, 3, BLUE, DECLARED_3),
            Curve(shaw(chosen, steps, lengths=NEAR[:4], count=200, **sizes), 1, VERMILION, NOTHING),
        ),
        (
            at_least(
                "relation", "validation", 0.95, "Declared relation: at least 95 % exact in distribution."
            ),
            Keeps(
                "Declared relation: keeps 90 % of that at 20 digits.",
                AtLeast(0.9),
                Point("relation", "length=20"),
            ),
            at_most("relation", "seconds", 3600.0, "Declared relation: at most an hour of training a seed."),
        ),
    )


CHAINS = {"kind": "mixture", "of": "chains"}


@curves_figure(
    "beyond/addition-multiplication",
    "Addition and multiplication in one model",
    "Exact match of sums and of products with one digit, half of the samples each, for one model trained on "
    "at most 5 digits: half of the heads carry the relation of addition, half that of multiplication.",
    {"smoke": SMOKE, "laptop": "three seeds, one with Shaw keys, about half an hour on 2 cores"},
)
def both(scale: str) -> Curves:
    """One model for two operations, with heads of their own."""
    sums = make_task("addition", digits=5, width=8, sampler=CHAINS)
    task = make_task("arithmetic", parts=(sums, make_task("multiplication", digits=5, width=8)))
    relations = [SUMS | itself(), RELATION | itself()]
    knowledge = "told the relations of both operations, each in two of four heads"
    if scale == "smoke":
        return smoke("both", task, relations, knowledge)
    steps = 12_000
    return Curves(
        (
            Curve(related("both", task, relations, steps, lengths=LENGTHS[:5]), 3, BLUE, knowledge),
            Curve(shaw(task, steps, lengths=NEAR[:4], count=200), 1, VERMILION, NOTHING),
        ),
        (at_least("both", "length=100", 0.95, "One model for both: at least 95 % exact at 100 digits."),),
    )


@curves_figure(
    "beyond/addition-in-text",
    "Addition inside text",
    "Exact match of sums with up to 20 random letters before, between and after the numbers, for a model trained "
    "on numbers of at most 5 digits: digits are related by significance wherever the numbers stand.",
    {"smoke": SMOKE, "laptop": "three seeds, one with Shaw keys, about half an hour on 2 cores"},
)
def in_text(scale: str) -> Curves:
    """Sums among random letters."""
    task = make_task("addition", digits=5, width=8, words=20, sampler=CHAINS)
    relation = SUMS | itself()
    knowledge = f"{DECLARED_SUMS}; letters see themselves only"
    if scale == "smoke":
        return smoke("text", task, relation, knowledge)
    steps = 5000
    return Curves(
        (
            Curve(related("text", task, relation, steps, lengths=LENGTHS[:4]), 3, BLUE, knowledge),
            Curve(shaw(task, steps, lengths=NEAR[:4], count=200), 1, VERMILION, NOTHING),
        ),
        (at_least("text", "length=100", 0.95, "In text: at least 95 % exact at 100 digits."),),
    )


FIGURES = (multiplication_1, multiplication_3, both, in_text)
