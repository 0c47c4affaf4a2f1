"""Multiplication by short multipliers, learned on at most 5 digits."""

from functools import lru_cache
from typing import Any, ClassVar

from ordinate.lab.evaluation.predicates import AtLeast
from ordinate.lab.structure.discovery import discover
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import Muon
from ordinate.papers.aims import Keeps, at_least, at_most
from ordinate.papers.beyond.recipes import LENGTHS, NEAR, NOTHING, TRAINING, related, shaw
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.relations import Relation, aligned, uniform, window

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


class Multiplication1(Extrapolation):
    """One digit times many."""

    name: ClassVar[str] = "beyond/multiplication-1"
    title: ClassVar[str] = "Multiplication by one digit, learned on at most 5 digits"
    summary: ClassVar[str] = (
        "Exact match of products with a multiplier of one digit, for models trained on multiplicands of at most 5 "
        "digits: content x class attention over a declared and a discovered relation, against Shaw keys over all pairs."
    )
    scales: ClassVar[dict[str, str]] = {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": "three seeds of three models, about half an hour on 2 cores",
    }

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        if name == "smoke":
            return Scale(
                (Curve(related("relation", task(1), RELATION, 20, **SMALL), 1, "positional", DECLARED),)
            )
        return _laptop_1()


class Multiplication3(Extrapolation):
    """Three digits times many."""

    name: ClassVar[str] = "beyond/multiplication-3"
    title: ClassVar[str] = "Multiplication by three digits, learned on at most 5 digits"
    summary: ClassVar[str] = (
        "Exact match of products with a multiplier of three digits, for models trained on multiplicands of at most 5 "
        "digits and multipliers of one to three: content x class attention over a declared relation, against Shaw keys."
    )
    scales: ClassVar[dict[str, str]] = {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": "three seeds of the declared relation, one with Shaw keys, about 100 minutes on 2 cores",
    }

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        if name == "smoke":
            small = SMALL | {"gated": True}
            return Scale(
                (Curve(related("relation", task(3), RELATION_3, 20, **small), 1, "positional", DECLARED_3),)
            )
        return _laptop_3()


SMALL: dict[str, Any] = {"layers": 1, "width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}


def _laptop_3() -> Scale:
    chosen, steps = task(3), 20_000
    sizes: dict[str, Any] = {"layers": 5, "heads": 8, "width": 128, "hidden": 256, "gated": True}
    optimizer = Muon(learning_rate=2e-3, betas=(0.9, 0.99), weight_decay=0.1)
    sizes |= {
        "training": TRAINING.model_copy(update={"batch": 64, "average": 0.9985, "optimizer": optimizer})
    }
    told = related("relation", chosen, RELATION_3, steps, lengths=LENGTHS[:4], **sizes)
    return Scale(
        (
            Curve(told, 3, "positional", DECLARED_3),
            Curve(shaw(chosen, steps, lengths=NEAR[:4], count=200, **sizes), 1, "standard", NOTHING),
        ),
        (
            at_least(
                "relation", "validation", 0.95, "Declared relation: at least 95 % exact in distribution."
            ),
            Keeps(
                "Declared relation: keeps 90 % of that at 20 digits.", AtLeast(0.9), "relation", "length=20"
            ),
            at_most("relation", "seconds", 3600.0, "Declared relation: at most an hour of training a seed."),
        ),
    )


def _laptop_1() -> Scale:
    chosen, steps = task(1), 8000
    return Scale(
        (
            Curve(related("relation", chosen, RELATION, steps, lengths=LENGTHS), 3, "positional", DECLARED),
            Curve(related("discovered", chosen, discovered(1), steps, lengths=LENGTHS), 3, "first", FOUND),
            Curve(shaw(chosen, steps, lengths=NEAR, count=200), 3, "standard", NOTHING),
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


FIGURES = (Multiplication1(), Multiplication3())
