"""Figures 2, 4, 5, 7, 8 and 10: exact match of trained models, by length and by complexity."""

from ordinate.lab.evaluation.claims import AtLeast, AtMost
from ordinate.papers.aims import Aim, Beats, Falls, Keeps, at_least, at_most, sought
from ordinate.papers.symmetry import curves as models
from ordinate.papers.symmetry.figure import TrainedCurves
from ordinate.papers.symmetry.sizes import Sizes

MARGIN = 0.02
"""Exact match by which one model must at least be ahead of another to beat it."""

ALIKE = 0.1
"""Exact match within which one model is as good as another."""


def between(sizes: Sizes, last: int | None = None) -> tuple[str, ...]:
    """The lengths beyond training that leave a pad between the numbers."""
    return tuple(f"length={n}" for n in range(6, last or sizes.places))


def learned(label: str, share: float = 0.9) -> Aim:
    """In distribution the model has learned the task."""
    return at_least(label, "validation", share, f"In distribution, {label} is at least {share:.1%} exact.")


def ahead(better: str, worse: str, points: tuple[str, ...], where: str) -> Aim:
    """One model beats another."""
    return Beats(f"{better} is ahead of {worse} {where}.", AtLeast(MARGIN), better, worse, points)


BEYOND = "beyond the trained lengths"

SEARCH_SUMS, SEARCH_PRODUCTS = "symmetry/search-sums", "symmetry/search-products"
"""The figures that show what was tried, for claims that small models do not reach."""

FIGURES = (
    TrainedCurves(
        "fig-2a",
        "Addition with absolute positions",
        "Sums of longer numbers than in training, for a model with a learned vector for every place.",
        lambda sizes: (models.absolute_sums(sizes),),
        lambda sizes: (
            learned("ape"),
            Falls(
                "ape loses at least half at the first longer length.",
                AtLeast(0.5),
                "ape",
                "length=6",
                "validation",
            ),
        ),
        minutes=6,
    ),
    TrainedCurves(
        "fig-2b",
        "Addition with relative positions",
        "Sums of longer numbers than in training, for a model whose keys carry a vector for every distance, beside "
        "the one with absolute positions.",
        lambda sizes: (models.relative_sums(sizes), models.absolute_sums(sizes)),
        lambda sizes: (
            learned("rpe"),
            sought(
                at_least("rpe", "length=10", 0.5, "rpe is at least half exact at twice the trained length."),
                SEARCH_SUMS,
            ),
            ahead("rpe", "ape", between(sizes), BEYOND),
            sought(
                Falls(
                    "rpe falls where no pad is left between the numbers.",
                    AtLeast(0.1),
                    "rpe",
                    f"length={sizes.long}",
                    f"length={sizes.long - 1}",
                ),
                SEARCH_SUMS,
            ),
        ),
        minutes=10,
    ),
    TrainedCurves(
        "fig-2c",
        "Addition with absolute positions and shifted samples",
        "Sums of longer numbers than in training, for a model with absolute positions that also saw every sample "
        "with zeros on its right, beside relative positions without such help.",
        lambda sizes: (models.shifted_sums(sizes), models.relative_sums(sizes)),
        lambda sizes: (learned("ape-shifted", 0.999), ahead("rpe", "ape-shifted", between(sizes), BEYOND)),
        minutes=10,
    ),
    TrainedCurves(
        "fig-4a",
        "Multiplication by one digit with absolute positions",
        "Products of longer numbers than in training, for a model with a learned vector for every place.",
        lambda sizes: (models.products(sizes, 1)["ape"],),
        lambda sizes: (
            learned("ape"),
            at_most("ape", "length=8", 0.1, "ape is at most 10 % exact at 8 digits."),
        ),
        minutes=4,
    ),
    TrainedCurves(
        "fig-4b",
        "Multiplication by one digit with relative positions",
        "Products of longer numbers than in training, for a model whose keys carry a vector for every distance, "
        "beside the one with absolute positions.",
        lambda sizes: (models.products(sizes, 1)["rpe"], models.products(sizes, 1)["ape"]),
        lambda sizes: (
            learned("rpe"),
            ahead("rpe", "ape", between(sizes), BEYOND),
            Falls(
                "rpe declines with the length.",
                AtLeast(0.1),
                "rpe",
                f"length={sizes.places - 1}",
                "length=6",
            ),
        ),
        minutes=8,
    ),
    TrainedCurves(
        "fig-4c",
        "Multiplication by one digit with uniform positions",
        "Products of longer numbers than in training, for a model that is told that the multiplier acts alike on "
        "every place, beside the one with relative positions.",
        lambda sizes: (models.products(sizes, 1)["upe"], models.products(sizes, 1)["rpe"]),
        lambda sizes: (learned("upe"), ahead("upe", "rpe", between(sizes), BEYOND)),
        minutes=8,
    ),
    TrainedCurves(
        "fig-5a",
        "Multiplication by three digits with relative positions",
        "Products of longer numbers than in training, multipliers of three digits, a vector for every distance.",
        lambda sizes: (models.products(sizes, 3)["rpe"],),
        lambda sizes: (
            Keeps("rpe keeps at most half of its accuracy at 8 digits.", AtMost(0.5), "rpe", "length=8"),
        ),
        minutes=35,
    ),
    TrainedCurves(
        "fig-5b",
        "Multiplication by three digits with uniform and relative positions",
        "Products of longer numbers than in training, multipliers of three digits that act alike on every place, "
        "beside relative positions alone.",
        lambda sizes: (models.products(sizes, 3)["upe"], models.products(sizes, 3)["rpe"]),
        lambda sizes: (
            sought(
                Keeps(
                    "upe keeps 90 % of its accuracy at four fifths of the padded length.",
                    AtLeast(0.9),
                    "upe",
                    f"length={4 * sizes.places // 5}",
                ),
                SEARCH_PRODUCTS,
            ),
            ahead("upe", "rpe", between(sizes), BEYOND),
            sought(
                Falls(
                    "upe falls where no pad is left.",
                    AtLeast(0.1),
                    "upe",
                    f"length={sizes.places}",
                    f"length={sizes.places - 1}",
                ),
                SEARCH_PRODUCTS,
            ),
        ),
        minutes=60,
    ),
    TrainedCurves(
        "fig-5c",
        "Multiplication by three digits, absolute positions and shifted samples",
        "Products of longer numbers than in training, for absolute positions that also saw shifted samples, beside "
        "uniform and relative positions without them.",
        lambda sizes: (models.shifted_products(sizes)["ape-shifted"], models.products(sizes, 3)["upe"]),
        lambda sizes: (ahead("upe", "ape-shifted", between(sizes), BEYOND),),
        minutes=60,
    ),
    TrainedCurves(
        "fig-5d",
        "Multiplication by three digits, relative positions and shifted samples",
        "Products of longer numbers than in training, for relative positions that also saw shifted samples, beside "
        "uniform and relative positions without them.",
        lambda sizes: (models.shifted_products(sizes)["rpe-shifted"], models.products(sizes, 3)["upe"]),
        lambda sizes: (ahead("upe", "rpe-shifted", between(sizes), BEYOND),),
        minutes=60,
    ),
    TrainedCurves(
        "fig-7a",
        "Addition inside text",
        "Sums with up to 20 random letters before, between and after the numbers, beside sums without text.",
        lambda sizes: (models.sums_in_text(sizes), models.plain_sums(sizes)),
        lambda sizes: (
            learned("text"),
            Beats(
                "With text it is as good as without.", AtLeast(-ALIKE), "text", "rpe-short", between(sizes)
            ),
        ),
        minutes=18,
    ),
    TrainedCurves(
        "fig-7b",
        "Multiplication inside text",
        "Products with multipliers of three digits and random letters around them, beside products without text.",
        lambda sizes: (models.products_in_text(sizes), models.products(sizes, 3)["upe"]),
        lambda sizes: (
            Beats("With text it is as good as without.", AtLeast(-ALIKE), "text", "upe", between(sizes)),
        ),
        minutes=60,
    ),
    TrainedCurves(
        "fig-8a",
        "Addition with relative positions, by the longest cascade of carries",
        "Sums of one length sorted by how far a carry travels, for the models of Fig 2b.",
        lambda sizes: (models.relative_sums(sizes),),
        lambda sizes: (
            Falls(
                "Long cascades are hard.",
                AtLeast(0.2),
                "rpe",
                f"cascade={sizes.cascades[-1]}",
                f"cascade={sizes.cascades[0]}",
            ),
        ),
        minutes=7,
        axes=("cascade",),
    ),
    TrainedCurves(
        "fig-8b",
        "Addition with relative positions, by the longest run of carries",
        "Sums of one length sorted by how many carries stand in a row, for the models of Fig 2b.",
        lambda sizes: (models.relative_sums(sizes),),
        lambda sizes: (
            Falls(
                "Long runs of carries are not hard.",
                AtMost(ALIKE),
                "rpe",
                f"carries={sizes.cascades[-1]}",
                f"carries={sizes.cascades[0]}",
            ),
        ),
        minutes=7,
        axes=("carries",),
    ),
    TrainedCurves(
        "fig-8c",
        "Addition, trained on mixtures of easy and hard sums",
        "Sums of one length by their longest cascade, for models trained on numbers drawn uniformly, on cascades of "
        "all lengths alike, and on half of each.",
        models.mixed_sums,
        lambda sizes: (
            ahead("half-half", "rpe", _cascades(sizes), "over all cascades"),
            ahead("half-half", "complexity", _cascades(sizes), "over all cascades"),
        ),
        minutes=18,
        axes=("cascade",),
    ),
    TrainedCurves(
        "fig-10",
        "Addition without carries",
        "Digit-wise sums of longer numbers than in training, with relative positions.",
        lambda sizes: (models.no_carry(sizes),),
        lambda sizes: (
            at_least(
                "rpe",
                f"length={sizes.places - 1}",
                0.95,
                "Without carries, longer numbers cause no difficulty.",
            ),
        ),
        minutes=7,
    ),
)


def _cascades(sizes: Sizes) -> tuple[str, ...]:
    return tuple(f"cascade={n}" for n in sizes.cascades)
