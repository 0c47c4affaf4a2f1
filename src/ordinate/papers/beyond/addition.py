"""Addition learned on at most 5 digits, right on 1000."""

from functools import lru_cache
from typing import Any, ClassVar

from ordinate.lab.structure.discovery import discover
from ordinate.lab.tasks import make_task
from ordinate.papers.aims import at_least, at_most
from ordinate.papers.beyond.recipes import LENGTHS, NEAR, NOTHING, absolute, related, shaw
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.relations import Relation, aligned, window

TASK = make_task("addition", digits=5, width=8, sampler={"kind": "mixture", "of": "chains"})
BACK, LAYERS = 4, 4
REACH = BACK * LAYERS
"""How far a carry can be seen: so many places back in every layer."""
RELATION = aligned("first", "second") * window(back=BACK)
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


class Addition1000(Extrapolation):
    """Declared and discovered relations against relative and absolute positions."""

    name: ClassVar[str] = "beyond/addition-1000"
    title: ClassVar[str] = "Additions learned on at most 5 digits, measured far beyond"
    summary: ClassVar[str] = (
        "Exact match of sums of two numbers, for models trained on numbers of at most 5 digits at 17 tokens: attention "
        "that asks the content which class of a declared relation to look at, against Shaw keys and sinusoidal "
        "positions over all pairs."
    )
    scales: ClassVar[dict[str, str]] = {
        "smoke": "proves the path in seconds; no verdict",
        "demo": "one seed of three models, some minutes; no verdict",
        "laptop": "five seeds of the declared relation, three of the others, about an hour on 2 cores",
    }

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        return {"smoke": _smoke, "demo": _demo, "laptop": _laptop}[name]()


def _smoke() -> Scale:
    small: dict[str, Any] = {"layers": 1, "width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}
    return Scale(
        (
            Curve(related("relation", TASK, RELATION, 20, **small), 1, "positional", DECLARED),
            Curve(shaw(TASK, 20, **small), 1, "standard", NOTHING),
            Curve(absolute(TASK, 20, **small), 1, "baseline", NOTHING),
        ),
    )


def _demo() -> Scale:
    far: dict[str, Any] = {"lengths": LENGTHS[:5], "count": 100}
    return Scale(
        (
            Curve(related("relation", TASK, RELATION, 2500, **far), 1, "positional", DECLARED),
            Curve(shaw(TASK, 2500, **far), 1, "standard", NOTHING),
            Curve(absolute(TASK, 2500, **far), 1, "baseline", NOTHING),
        ),
    )


def _laptop() -> Scale:
    steps = 7000
    far: dict[str, Any] = {"lengths": LENGTHS}
    near: dict[str, Any] = {"lengths": NEAR, "count": 200}
    declared = related("relation", TASK, RELATION, steps, cascades=CASCADES, layers=LAYERS, **far)
    return Scale(
        (
            Curve(declared, 5, "positional", DECLARED, reach=REACH),
            Curve(related("discovered", TASK, discovered(), steps, **far), 3, "first", FOUND),
            Curve(shaw(TASK, steps, **near), 3, "standard", NOTHING),
            Curve(absolute(TASK, steps, **near), 3, "baseline", NOTHING),
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


FIGURES = (Addition1000(),)
