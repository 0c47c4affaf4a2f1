"""Multiplication by short multipliers, learned on at most 5 digits."""

from functools import lru_cache
from typing import Any, ClassVar

from ordinate.papers.aims import at_least, at_most
from ordinate.papers.beyond.recipes import LENGTHS, NEAR, NOTHING, related, shaw
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.positions.discovery import discover
from ordinate.positions.relations import Relation, aligned, uniform, window
from ordinate.tasks import Task, make_task

DECLARED = (
    "told that the multiplier acts alike on every place, and that digits of the multiplicand are related by "
    "significance, four places back; the sign is there for heads that find nothing at the edge of the number"
)
FOUND = "told nothing: the relation was found by `ordinate discover multiplication` from at most 5 digits"
RELATION = uniform("multiplier", "sign") | aligned("multiplicand") * window(back=4)


def task(multiplier: int) -> Task:
    """Multipliers of this many digits; longer ones are learned together with shorter ones."""
    return make_task("multiplication", multiplier=multiplier, mixed=multiplier > 1, digits=5, width=8)


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
        return _smoke(task(1)) if name == "smoke" else _laptop()


def _smoke(chosen: Task) -> Scale:
    small: dict[str, Any] = {"layers": 1, "width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}
    return Scale((Curve(related("relation", chosen, RELATION, 20, **small), 1, "positional", DECLARED),))


def _laptop() -> Scale:
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
