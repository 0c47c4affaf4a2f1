"""Addition and multiplication in one model, and addition inside text."""

from typing import Any, ClassVar

from ordinate.lab.tasks import make_task
from ordinate.papers.aims import at_least
from ordinate.papers.beyond.addition import DECLARED
from ordinate.papers.beyond.addition import RELATION as SUMS
from ordinate.papers.beyond.multiplication import RELATION as PRODUCTS
from ordinate.papers.beyond.recipes import LENGTHS, NEAR, NOTHING, related, shaw
from ordinate.papers.extrapolation import Extrapolation, Scale
from ordinate.papers.measured import Curve
from ordinate.relations import itself

SMALL: dict[str, Any] = {"layers": 1, "width": 16, "hidden": 16, "count": 20, "lengths": (10.0,)}
CHAINS = {"kind": "mixture", "of": "chains"}


class Both(Extrapolation):
    """One model for two operations, with heads of their own."""

    name: ClassVar[str] = "beyond/addition-multiplication"
    title: ClassVar[str] = "Addition and multiplication in one model"
    summary: ClassVar[str] = (
        "Exact match of sums and of products with one digit, half of the samples each, for one model trained on "
        "at most 5 digits: half of the heads carry the relation of addition, half that of multiplication."
    )
    scales: ClassVar[dict[str, str]] = {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": "three seeds, one with Shaw keys, about half an hour on 2 cores",
    }

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        sums = make_task("addition", digits=5, width=8, sampler=CHAINS)
        task = make_task("arithmetic", parts=(sums, make_task("multiplication", digits=5, width=8)))
        relations = [SUMS | itself(), PRODUCTS | itself()]
        told = "told the relations of both operations, each in two of four heads"
        if name == "smoke":
            return Scale((Curve(related("both", task, relations, 20, **SMALL), 1, "positional", told),))
        steps = 12_000
        return Scale(
            (
                Curve(related("both", task, relations, steps, lengths=LENGTHS[:5]), 3, "positional", told),
                Curve(shaw(task, steps, lengths=NEAR[:4], count=200), 1, "standard", NOTHING),
            ),
            (at_least("both", "length=100", 0.95, "One model for both: at least 95 % exact at 100 digits."),),
        )


class InText(Extrapolation):
    """Numbers among random letters."""

    name: ClassVar[str] = "beyond/addition-in-text"
    title: ClassVar[str] = "Addition inside text"
    summary: ClassVar[str] = (
        "Exact match of sums with up to 20 random letters before, between and after the numbers, for a model trained "
        "on numbers of at most 5 digits: digits are related by significance wherever the numbers stand."
    )
    scales: ClassVar[dict[str, str]] = {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": "three seeds, one with Shaw keys, about half an hour on 2 cores",
    }

    def scale(self, name: str) -> Scale:
        """Recipes and aims of a scale."""
        task = make_task("addition", digits=5, width=8, words=20, sampler=CHAINS)
        relation = SUMS | itself()
        told = f"{DECLARED}; letters see themselves only"
        if name == "smoke":
            return Scale((Curve(related("text", task, relation, 20, **SMALL), 1, "positional", told),))
        steps = 5000
        return Scale(
            (
                Curve(related("text", task, relation, steps, lengths=LENGTHS[:4]), 3, "positional", told),
                Curve(shaw(task, steps, lengths=NEAR[:4], count=200), 1, "standard", NOTHING),
            ),
            (at_least("text", "length=100", 0.95, "In text: at least 95 % exact at 100 digits."),),
        )


FIGURES = (Both(), InText())
