"""Multiplication: Figures 4, 5 and 7b. Exact match of trained models by length."""

from dataclasses import replace

from ordinate.encodings import Learned, Significance
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.report.style import BLACK, BLUE, ORANGE, PURPLE, VERMILION
from ordinate.papers.aims import Beats, Keeps, Point, at_most
from ordinate.papers.curves import Curve
from ordinate.papers.symmetry.models import (
    ABSOLUTE,
    ALIKE,
    BEYOND,
    RELATIVE,
    SHIFTED,
    UNIFORM,
    Sizes,
    ahead,
    between,
    curve,
    falls,
    figure,
    learned,
    multiplication,
    rpe,
    upe,
)

SEARCH = "symmetry/search-products"
"""The figure that shows what was tried, for claims that small models do not reach."""


def products(sizes: Sizes, multiplier: int) -> dict[str, Curve]:
    """Absolute, relative, and uniform + relative positions (Figs 4 and 5)."""
    sizes = sizes.three_digits if multiplier > 1 else sizes
    task = multiplication(sizes, multiplier)
    return {
        "ape": curve("ape", task, Learned(width=sizes.width), sizes, BLACK, ABSOLUTE),
        "rpe": curve("rpe", task, rpe(sizes), sizes, VERMILION, RELATIVE),
        "upe": curve("upe", task, upe(sizes), sizes, BLUE, UNIFORM),
    }


def absolute_shifted(sizes: Sizes) -> Curve:
    """Multipliers of three digits, absolute positions, shift augmentation (Fig 5c)."""
    sizes = sizes.three_digits
    task, encoding = multiplication(sizes, 3, "shifted"), Learned(width=sizes.width)
    return curve("ape-shifted", task, encoding, sizes, ORANGE, f"{ABSOLUTE}; {SHIFTED}")


def relative_shifted(sizes: Sizes) -> Curve:
    """The same with relative positions (Fig 5d)."""
    sizes = sizes.three_digits
    task = multiplication(sizes, 3, "shifted")
    return curve("rpe-shifted", task, rpe(sizes), sizes, PURPLE, f"{RELATIVE}; {SHIFTED}")


def products_in_text(sizes: Sizes) -> Curve:
    """Products among letters (Fig 7b)."""
    sizes = sizes.three_digits
    sizes = replace(sizes, steps=sizes.steps_in_text or sizes.steps)
    task = multiplication(sizes, 3, words=sizes.words)
    encoding = Significance(uniform=sizes.uniform, per_head=sizes.per_head, std=sizes.std)
    knowledge = (
        "told which tokens are digits of which significance, and what acts alike on all, in half of the heads"
    )
    return curve("text", task, encoding, sizes, ORANGE, knowledge)


FIGURES = (
    figure(
        "fig-4a",
        "Multiplication by one digit with absolute positions",
        "Products of longer numbers than in training, for a model with a learned vector for every place.",
        lambda sizes: (products(sizes, 1)["ape"],),
        lambda sizes: (
            learned("ape"),
            at_most("ape", "length=8", 0.1, "ape is at most 10 % exact at 8 digits."),
        ),
        minutes=4,
    ),
    figure(
        "fig-4b",
        "Multiplication by one digit with relative positions",
        "Products of longer numbers than in training, for a model whose keys carry a vector for every distance, "
        "beside the one with absolute positions.",
        lambda sizes: (products(sizes, 1)["rpe"], products(sizes, 1)["ape"]),
        lambda sizes: (
            learned("rpe"),
            ahead("rpe", "ape", between(sizes), BEYOND),
            falls(
                "rpe", "length=6", f"length={sizes.places - 1}", "rpe declines with the length.", AtLeast(0.1)
            ),
        ),
        minutes=8,
    ),
    figure(
        "fig-4c",
        "Multiplication by one digit with uniform positions",
        "Products of longer numbers than in training, for a model that is told that the multiplier acts alike on "
        "every place, beside the one with relative positions.",
        lambda sizes: (products(sizes, 1)["upe"], products(sizes, 1)["rpe"]),
        lambda sizes: (learned("upe"), ahead("upe", "rpe", between(sizes), BEYOND)),
        minutes=8,
    ),
    figure(
        "fig-5a",
        "Multiplication by three digits with relative positions",
        "Products of longer numbers than in training, multipliers of three digits, a vector for every distance.",
        lambda sizes: (products(sizes, 3)["rpe"],),
        lambda sizes: (
            Keeps(
                "rpe keeps at most half of its accuracy at 8 digits.", AtMost(0.5), Point("rpe", "length=8")
            ),
        ),
        minutes=35,
    ),
    figure(
        "fig-5b",
        "Multiplication by three digits with uniform and relative positions",
        "Products of longer numbers than in training, multipliers of three digits that act alike on every place, "
        "beside relative positions alone.",
        lambda sizes: (products(sizes, 3)["upe"], products(sizes, 3)["rpe"]),
        lambda sizes: (
            Keeps(
                "upe keeps 90 % of its accuracy at four fifths of the padded length.",
                AtLeast(0.9),
                Point("upe", f"length={4 * sizes.places // 5}"),
                search=SEARCH,
            ),
            ahead("upe", "rpe", between(sizes), BEYOND),
            falls(
                "upe",
                f"length={sizes.places - 1}",
                f"length={sizes.places}",
                "upe falls where no pad is left.",
                AtLeast(0.1),
                SEARCH,
            ),
        ),
        minutes=60,
    ),
    figure(
        "fig-5c",
        "Multiplication by three digits, absolute positions and shifted samples",
        "Products of longer numbers than in training, for absolute positions that also saw shifted samples, beside "
        "uniform and relative positions without them.",
        lambda sizes: (absolute_shifted(sizes), products(sizes, 3)["upe"]),
        lambda sizes: (ahead("upe", "ape-shifted", between(sizes), BEYOND),),
        minutes=60,
    ),
    figure(
        "fig-5d",
        "Multiplication by three digits, relative positions and shifted samples",
        "Products of longer numbers than in training, for relative positions that also saw shifted samples, beside "
        "uniform and relative positions without them.",
        lambda sizes: (relative_shifted(sizes), products(sizes, 3)["upe"]),
        lambda sizes: (ahead("upe", "rpe-shifted", between(sizes), BEYOND),),
        minutes=60,
    ),
    figure(
        "fig-7b",
        "Multiplication inside text",
        "Products with multipliers of three digits and random letters around them, beside products without text.",
        lambda sizes: (products_in_text(sizes), products(sizes, 3)["upe"]),
        lambda sizes: (
            Beats("With text it is as good as without.", AtLeast(-ALIKE), "text", "upe", between(sizes)),
        ),
        minutes=60,
    ),
)
