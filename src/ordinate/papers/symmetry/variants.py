"""What the paper does not try, and what was tried until small models showed its claims.

`declared`: keys without content, and pairs removed, in the axes of Figures 2b, 8 and 4c. `search`: a series of recipes,
each with one change to the one before it.
"""

from collections.abc import Callable
from dataclasses import replace

from ordinate.attention import Content, ContentClass, Form
from ordinate.encodings import Encoding, Pairwise
from ordinate.lab.report.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION
from ordinate.lab.training import Training
from ordinate.papers.aims import Aim, at_least
from ordinate.papers.beyond import addition as beyond_addition
from ordinate.papers.beyond import multiplication as beyond_multiplication
from ordinate.papers.curves import Curve
from ordinate.papers.symmetry.addition import plain_sums, relative_sums
from ordinate.papers.symmetry.addition import sums as sums_of
from ordinate.papers.symmetry.models import (
    BEYOND,
    RELATIVE,
    SCALES,
    UNIFORM,
    Sizes,
    addition,
    ahead,
    between,
    curve,
    figure,
    learned,
    multiplication,
    near,
    rpe,
    upe,
)
from ordinate.papers.symmetry.multiplication import products as products_of
from ordinate.relations import Relation

KEYS = "keys hold the vector of the pair alone, no content"
PAIRS = "told which pairs matter, by significance and a few places back; no others are attended"

Variant = Callable[[str, str, str, Encoding, Form], Curve]
"""A curve from its label, its look, what it is knowledge, its encoding and its form of attention."""


def variants(knowledge: str, every: Encoding, some: Encoding, make: Variant) -> tuple[Curve, ...]:
    """Without content in keys, with fewer pairs, and with both; the paper's form is the fourth."""
    return (
        make("keys", PURPLE, f"{knowledge}; {KEYS}", every, ContentClass()),
        make("pairs", ORANGE, PAIRS, some, Content()),
        make("both", GREEN, f"{PAIRS}; {KEYS}", some, ContentClass()),
    )


def declared(relation: Relation, sizes: Sizes) -> Encoding:
    """Key vectors of a relation."""
    return Pairwise(relation=relation, per_head=sizes.per_head, std=sizes.std)


def declared_sums(sizes: Sizes) -> tuple[Curve, ...]:
    """Addition: relative positions as in the paper, and the three variants."""

    def make(label: str, look: str, knowledge: str, encoding: Encoding, form: Form) -> Curve:
        return sums_of(label, "uniform", sizes, look, knowledge, encoding=encoding, attention=form)

    some = declared(beyond_addition.RELATION, sizes)
    return relative_sums(sizes), *variants(RELATIVE, rpe(sizes), some, make)


def declared_products(sizes: Sizes) -> tuple[Curve, ...]:
    """Multiplication by one digit: uniform and relative positions as in the paper, and the three variants."""
    task = multiplication(sizes, 1)

    def make(label: str, look: str, knowledge: str, encoding: Encoding, form: Form) -> Curve:
        return curve(label, task, encoding, sizes, look, knowledge, attention=form)

    some = declared(beyond_multiplication.RELATION, sizes)
    return products_of(sizes, 1)["upe"], *variants(UNIFORM, upe(sizes), some, make)


def declared_aims(published: str, points: tuple[str, ...]) -> tuple[Aim, ...]:
    """Each variant learns and is ahead of the paper's form; both together hold to the last length with a pad."""
    each = [
        aim
        for name in ("keys", "pairs", "both")
        for aim in (learned(name), ahead(name, published, points, BEYOND))
    ]
    last = points[-1].replace("=", " ")
    return (*each, at_least("both", points[-1], 0.9, f"Both together are at least 90 % exact at {last}."))


PUBLISHED = SCALES["paper"]

TRIED = ("smoke", "laptop")
"""At paper scale nothing was tried."""


def searched_sums(sizes: Sizes) -> tuple[Curve, ...]:
    """Addition with relative positions: from the published training to the one that Figure 2b uses."""
    published, decay = PUBLISHED.training.optimizer, near(sizes)
    start = replace(decay, training=_optimized(sizes, published.learning_rate, published.weight_decay))
    chosen = sizes.training.optimizer
    rate = replace(start, training=_optimized(sizes, chosen.learning_rate, published.weight_decay))
    spread = replace(decay, std=sizes.std)
    tables = replace(spread, per_head=sizes.per_head)
    return (
        _sums("published", BLACK, "rate, weight decay, dropout and first vectors as published", start),
        _sums("rate", PURPLE, f"and a rate of {chosen.learning_rate:g}", rate),
        _sums("decay", ORANGE, f"and a weight decay of {chosen.weight_decay:g}", decay),
        _sums("spread", SKY, f"and first vectors with a standard deviation of {sizes.std:g}", spread),
        _sums("tables", GREEN, "and a table of vectors for every head", tables),
        plain_sums(sizes),
    )


def searched_lines(sizes: Sizes) -> tuple[Curve, ...]:
    """The recipe that is best on short lines, and the one that Figure 2b uses, on short and on long lines."""
    nearer, used = near(sizes), relative_sums(sizes)
    return (
        _sums("decay", ORANGE, "nearer to the published training", nearer),
        plain_sums(sizes),
        _sums("decay-long", SKY, "nearer to the published training", nearer, sizes.long),
        replace(used, look=BLUE),
    )


def _sums(label: str, look: str, knowledge: str, sizes: Sizes, places: int | None = None) -> Curve:
    places = places or sizes.places
    lengths = tuple(float(n) for n in range(6, places + 1))
    task, encoding = addition(places), rpe(sizes)
    return curve(label, task, encoding, sizes, look, knowledge, axes={"length": lengths})


def searched_products(sizes: Sizes) -> tuple[Curve, ...]:
    """Multipliers of three digits: from the recipe for one digit to the one that Figure 5b uses."""
    wanted = sizes.three_digits

    def tried(label: str, look: str, knowledge: str, chosen: Sizes, seeds: int) -> Curve:
        task = multiplication(chosen, 3)
        made = curve(label, task, upe(chosen), chosen, look, knowledge)
        return replace(made, seeds=seeds)

    plain = replace(sizes, hard=None)
    wider = replace(wanted, sparse=None, uniform=plain.uniform, dropout=plain.dropout)
    zeros = replace(wider, sparse=wanted.sparse)
    dropped = replace(zeros, dropout=wanted.dropout)
    return (
        tried("one-digit", BLACK, "the recipe for multipliers of one digit", plain, sizes.seeds),
        tried("wider", PURPLE, "as large as upe and trained as long, with its optimizer", wider, 1),
        tried("zeros", GREEN, "and with zeros in multipliers of training", zeros, 1),
        tried("dropout", VERMILION, f"and with dropout of {wanted.dropout:g}", dropped, 1),
        products_of(sizes, 3)["upe"],
    )


def _optimized(sizes: Sizes, rate: float, decay: float) -> Training:
    """The training of a scale with this rate and weight decay."""
    update = {"learning_rate": rate, "weight_decay": decay}
    optimizer = sizes.training.optimizer.model_copy(update=update)
    return sizes.training.model_copy(update={"optimizer": optimizer})


FIGURES = (
    figure(
        "declared-sums",
        "Addition with keys without content, and with pairs removed",
        "Sums of longer numbers than in training in the axes of Figures 2b and 8: the paper's relative positions "
        "(rpe), the same without content in keys, the same over a declared relation alone, and both.",
        declared_sums,
        lambda sizes: declared_aims("rpe", between(sizes, sizes.long)),
        minutes=20,
        axes=("length", "cascade"),
    ),
    figure(
        "declared-products",
        "Multiplication by one digit with keys without content, and with pairs removed",
        "Products of longer numbers than in training in the axes of Figure 4c: the paper's uniform positions "
        "(upe), the same without content in keys, the same over a declared relation alone, and both.",
        declared_products,
        lambda sizes: declared_aims("upe", between(sizes)),
        minutes=14,
    ),
    figure(
        "search-sums",
        "What lets small models carry sums to longer numbers",
        "Sums of longer numbers than in training with relative positions, for a series of recipes: each adds one "
        "change to the one before it, from the published training to the one of Figure 2b (rpe-short, without "
        "dropout).",
        searched_sums,
        lambda sizes: (ahead("rpe-short", "published", between(sizes), BEYOND),),
        minutes=45,
        at=TRIED,
    ),
    figure(
        "search-lines",
        "Two recipes for sums, on shorter and on longer lines",
        "Sums of longer numbers than in training with relative positions. decay and rpe-short stand on the lines of "
        "search-sums; decay-long and rpe, the model of Figure 2b, are the same two recipes on its longer lines.",
        searched_lines,
        lambda sizes: (
            ahead("decay", "rpe-short", between(sizes), BEYOND),
            ahead("rpe", "decay-long", between(sizes, sizes.long), BEYOND),
        ),
        minutes=22,
        at=TRIED,
    ),
    figure(
        "search-products",
        "What lets small models learn multipliers of three digits",
        "Products of longer numbers than in training with uniform and relative positions, for a series of recipes: "
        "each adds one change to the one before it, from the recipe for one digit to the one of Figure 5b (upe, "
        "where the sign too acts alike on every place). One seed each in between.",
        searched_products,
        lambda sizes: (ahead("upe", "one-digit", between(sizes), BEYOND),),
        minutes=60,
        at=TRIED,
    ),
)
