"""What the paper does not try: keys without content, and pairs removed, in the axes of Figures 2b, 8 and 4c."""

from collections.abc import Callable

from ordinate.attention import Content, ContentClass, Form
from ordinate.encodings import Encoding, Pairwise
from ordinate.papers.aims import Aim, at_least
from ordinate.papers.beyond import addition, multiplication
from ordinate.papers.measured import Curve
from ordinate.papers.symmetry import curves as models
from ordinate.papers.symmetry.figure import TrainedCurves
from ordinate.papers.symmetry.lengths import BEYOND, ahead, between, learned
from ordinate.papers.symmetry.sizes import Sizes
from ordinate.relations import Relation

KEYS = "keys hold the vector of the pair alone, no content"
PAIRS = "told which pairs matter, by significance and a few places back; no others are attended"

Variant = Callable[[str, str, str, Encoding, Form], Curve]
"""A curve from its label, its role, what it is told, its encoding and its form of attention."""


def variants(told: str, every: Encoding, some: Encoding, make: Variant) -> tuple[Curve, ...]:
    """Without content in keys, with fewer pairs, and with both; the paper's form is the fourth."""
    return (
        make("keys", "rotary", f"{told}; {KEYS}", every, ContentClass()),
        make("pairs", "second", PAIRS, some, Content()),
        make("both", "hybrid", f"{PAIRS}; {KEYS}", some, ContentClass()),
    )


def declared(relation: Relation, sizes: Sizes) -> Encoding:
    """Key vectors of a relation."""
    return Pairwise(relation=relation, per_head=sizes.per_head, std=sizes.std)


def sums(sizes: Sizes) -> tuple[Curve, ...]:
    """Addition: relative positions as in the paper, and the three variants."""

    def make(label: str, role: str, told: str, encoding: Encoding, form: Form) -> Curve:
        return models.sums(label, "uniform", sizes, role, told, encoding=encoding, attention=form)

    some = declared(addition.RELATION, sizes)
    return models.relative_sums(sizes), *variants(models.RELATIVE, models.rpe(sizes), some, make)


def products(sizes: Sizes) -> tuple[Curve, ...]:
    """Multiplication by one digit: uniform and relative positions as in the paper, and the three variants."""
    task = models.multiplication(sizes, 1)

    def make(label: str, role: str, told: str, encoding: Encoding, form: Form) -> Curve:
        return models.curve(label, task, encoding, sizes, role, told, attention=form)

    some = declared(multiplication.RELATION, sizes)
    return models.products(sizes, 1)["upe"], *variants(models.UNIFORM, models.upe(sizes), some, make)


def aims(published: str, points: tuple[str, ...]) -> tuple[Aim, ...]:
    """Each variant learns and is ahead of the paper's form; both together hold to the last length with a pad."""
    each = [
        aim
        for name in ("keys", "pairs", "both")
        for aim in (learned(name), ahead(name, published, points, BEYOND))
    ]
    last = points[-1].replace("=", " ")
    return (*each, at_least("both", points[-1], 0.9, f"Both together are at least 90 % exact at {last}."))


FIGURES = (
    TrainedCurves(
        "declared-sums",
        "Addition with keys without content, and with pairs removed",
        "Sums of longer numbers than in training in the axes of Figures 2b and 8: the paper's relative positions "
        "(rpe), the same without content in keys, the same over a declared relation alone, and both.",
        sums,
        lambda sizes: aims("rpe", between(sizes, sizes.long)),
        minutes=20,
        axes=("length", "cascade"),
    ),
    TrainedCurves(
        "declared-products",
        "Multiplication by one digit with keys without content, and with pairs removed",
        "Products of longer numbers than in training in the axes of Figure 4c: the paper's uniform positions "
        "(upe), the same without content in keys, the same over a declared relation alone, and both.",
        products,
        lambda sizes: aims("upe", between(sizes)),
        minutes=14,
    ),
)
