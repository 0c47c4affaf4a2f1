"""What was tried until small models showed the paper's claims: each recipe adds one change to the one before it."""

from dataclasses import replace

from ordinate.lab.training import Training
from ordinate.papers.measured import Curve
from ordinate.papers.symmetry import curves as models
from ordinate.papers.symmetry.figure import TrainedCurves
from ordinate.papers.symmetry.lengths import BEYOND, ahead, between
from ordinate.papers.symmetry.sizes import SCALES, Sizes, near

PUBLISHED = SCALES["paper"]

TRIED = ("smoke", "laptop")
"""At paper scale nothing was tried."""


def sums(sizes: Sizes) -> tuple[Curve, ...]:
    """Addition with relative positions: from the published training to the one that Figure 2b uses."""
    published, decay = PUBLISHED.training.optimizer, near(sizes)
    start = replace(decay, training=_optimized(sizes, published.learning_rate, published.weight_decay))
    chosen = sizes.training.optimizer
    rate = replace(start, training=_optimized(sizes, chosen.learning_rate, published.weight_decay))
    spread = replace(decay, std=sizes.std)
    tables = replace(spread, per_head=sizes.per_head)
    return (
        _sums("published", "baseline", "rate, weight decay, dropout and first vectors as published", start),
        _sums("rate", "rotary", f"and a rate of {chosen.learning_rate:g}", rate),
        _sums("decay", "second", f"and a weight decay of {chosen.weight_decay:g}", decay),
        _sums("spread", "first", f"and first vectors with a standard deviation of {sizes.std:g}", spread),
        _sums("tables", "hybrid", "and a table of vectors for every head", tables),
        models.plain_sums(sizes),
    )


def lines(sizes: Sizes) -> tuple[Curve, ...]:
    """The recipe that is best on short lines, and the one that Figure 2b uses, on short and on long lines."""
    nearer, used = near(sizes), models.relative_sums(sizes)
    return (
        _sums("decay", "second", "nearer to the published training", nearer),
        models.plain_sums(sizes),
        _sums("decay-long", "first", "nearer to the published training", nearer, sizes.long),
        replace(used, role="positional"),
    )


def _sums(label: str, role: str, told: str, sizes: Sizes, places: int | None = None) -> Curve:
    places = places or sizes.places
    lengths = tuple(float(n) for n in range(6, places + 1))
    task, encoding = models.addition(places), models.rpe(sizes)
    return models.curve(label, task, encoding, sizes, role, told, axes={"length": lengths})


def products(sizes: Sizes) -> tuple[Curve, ...]:
    """Multipliers of three digits: from the recipe for one digit to the one that Figure 5b uses."""
    wanted = sizes.three_digits

    def tried(label: str, role: str, told: str, chosen: Sizes, seeds: int) -> Curve:
        task = models.multiplication(chosen, 3)
        made = models.curve(label, task, models.upe(chosen), chosen, role, told)
        return replace(made, seeds=seeds)

    plain = replace(sizes, hard=None)
    wider = replace(wanted, sparse=None, uniform=plain.uniform, dropout=plain.dropout)
    zeros = replace(wider, sparse=wanted.sparse)
    dropped = replace(zeros, dropout=wanted.dropout)
    return (
        tried("one-digit", "baseline", "the recipe for multipliers of one digit", plain, sizes.seeds),
        tried("wider", "rotary", "as large as upe and trained as long, with its optimizer", wider, 1),
        tried("zeros", "hybrid", "and with zeros in multipliers of training", zeros, 1),
        tried("dropout", "standard", f"and with dropout of {wanted.dropout:g}", dropped, 1),
        models.products(sizes, 3)["upe"],
    )


def _optimized(sizes: Sizes, rate: float, decay: float) -> Training:
    """The training of a scale with this rate and weight decay."""
    update = {"learning_rate": rate, "weight_decay": decay}
    optimizer = sizes.training.optimizer.model_copy(update=update)
    return sizes.training.model_copy(update={"optimizer": optimizer})


FIGURES = (
    TrainedCurves(
        "search-sums",
        "What lets small models carry sums to longer numbers",
        "Sums of longer numbers than in training with relative positions, for a series of recipes: each adds one "
        "change to the one before it, from the published training to the one of Figure 2b (rpe-short, without "
        "dropout).",
        sums,
        lambda sizes: (ahead("rpe-short", "published", between(sizes), BEYOND),),
        minutes=45,
        at=TRIED,
    ),
    TrainedCurves(
        "search-lines",
        "Two recipes for sums, on shorter and on longer lines",
        "Sums of longer numbers than in training with relative positions. decay and rpe-short stand on the lines of "
        "search-sums; decay-long and rpe, the model of Figure 2b, are the same two recipes on its longer lines.",
        lines,
        lambda sizes: (
            ahead("decay", "rpe-short", between(sizes), BEYOND),
            ahead("rpe", "decay-long", between(sizes, sizes.long), BEYOND),
        ),
        minutes=22,
        at=TRIED,
    ),
    TrainedCurves(
        "search-products",
        "What lets small models learn multipliers of three digits",
        "Products of longer numbers than in training with uniform and relative positions, for a series of recipes: "
        "each adds one change to the one before it, from the recipe for one digit to the one of Figure 5b (upe, "
        "where the sign too acts alike on every place). One seed each in between.",
        products,
        lambda sizes: (ahead("upe", "one-digit", between(sizes), BEYOND),),
        minutes=60,
        at=TRIED,
    ),
)
