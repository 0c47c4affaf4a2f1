"""Long cascades of carries: what a fixed depth cannot reach, and a looped model can."""

from typing import Any, ClassVar

from ordinate.papers.aims import at_least
from ordinate.papers.beyond.addition import CASCADES, TASK
from ordinate.papers.beyond.recipes import LENGTHS, related
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.relations import leap

LEAPS = leap("first", "second")
LOOPS = 6
LOOPED = (
    "told that digits are related by significance, and that carries can be put together over 1, 2, 4, ... places: the "
    f"middle one of three layers is gone through {LOOPS} times, and looks back twice as far each time (in training "
    "5 to 10 times, some distances twice and some loops idle); every loop starts from what entered the first one, so "
    "that nothing but what is attended to is carried over"
)
REACH = 2**LOOPS - 1
SIZES: dict[str, Any] = {
    "layers": 3,
    "once": (1, 1),
    "loops": LOOPS,
    "trained_loops": (5, 10),
    "stay": 0.4,
    "idle": 0.35,
    "anew": True,
}
"""Without `anew` states drift; with a fixed number of loops only that number works; without idle loops layers learn
when their work is done. In none of these cases do late loops do what early ones have learned."""


class Cascades(Extrapolation):
    """A carry that travels twenty places, for models that have seen it travel five."""

    name: ClassVar[str] = "beyond/cascades"
    title: ClassVar[str] = "Cascades of carries longer than any in training"
    summary: ClassVar[str] = (
        "Exact match of sums of 40 digits by the length of their longest cascade, for models trained on numbers of at "
        "most 5 digits: one layer gone through again and again, that looks back twice as far each time."
    )
    scales: ClassVar[dict[str, str]] = {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": "three seeds, about half an hour on 2 cores",
    }

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        if name == "smoke":
            small: dict[str, Any] = {"width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}
            looped = related("looped", TASK, LEAPS, 20, cascades=(1.0, 20.0), **small, **SIZES)
            return Scale((Curve(looped, 1, "first", LOOPED),))
        beyond = (*CASCADES, 25.0, 30.0, 35.0)
        far: dict[str, Any] = {"cascades": beyond, "count": 300, "lengths": LENGTHS}
        return Scale(
            (Curve(related("looped", TASK, LEAPS, 4000, **far, **SIZES), 3, "first", LOOPED, reach=REACH),),
            (at_least("looped", "cascade=20", 0.9, "Looped: at least 90 % exact at cascades of 20 places."),),
        )


FIGURES = (Cascades(),)
