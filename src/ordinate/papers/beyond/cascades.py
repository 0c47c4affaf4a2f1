"""Long cascades of carries: what a fixed depth cannot reach, and a looped model can."""

from typing import Any, ClassVar

from ordinate.papers.aims import at_least
from ordinate.papers.beyond.addition import CASCADES, TASK
from ordinate.papers.beyond.recipes import related
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.positions.relations import aligned, window

NEXT = aligned("first", "second") * window(back=1)
LOOPED = (
    "told that digits are related by significance, one place back; one layer, gone through 5 to 9 times in "
    "training and 24 times in the test"
)
LOOPS: dict[str, Any] = {"layers": 1, "loops": 24, "trained_loops": (5, 9)}


class Cascades(Extrapolation):
    """A carry that travels twenty places, for models that have seen it travel five."""

    name: ClassVar[str] = "beyond/cascades"
    title: ClassVar[str] = "Cascades of carries longer than any in training"
    summary: ClassVar[str] = (
        "Exact match of sums of 40 digits by the length of their longest cascade, for models trained on numbers of at "
        "most 5 digits: one layer with a window of one place back, gone through again and again."
    )
    scales: ClassVar[dict[str, str]] = {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": "three seeds, about half an hour on 2 cores",
    }

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        if name == "smoke":
            small: dict[str, Any] = {"width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}
            looped = related("looped", TASK, NEXT, 20, cascades=(1.0, 20.0), **small, **LOOPS)
            return Scale((Curve(looped, 1, "first", LOOPED),))
        far: dict[str, Any] = {"cascades": CASCADES, "count": 300, "lengths": (10.0, 100.0)}
        return Scale(
            (Curve(related("looped", TASK, NEXT, 6000, **far, **LOOPS), 3, "first", LOOPED, reach=24),),
            (at_least("looped", "cascade=20", 0.9, "Looped: at least 90 % exact at cascades of 20 places."),),
        )
