"""Addition: Figures 2, 7a, 8 and 10. Exact match of trained models, by length and by complexity."""

from ordinate.attention import Form
from ordinate.encodings import Encoding, Learned, Significance
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.report.style import BLACK, BLUE, ORANGE, PURPLE, VERMILION
from ordinate.lab.tasks import make_task
from ordinate.papers.aims import Beats, Point, Shows, at_least
from ordinate.papers.curves import Curve
from ordinate.papers.symmetry.models import (
    ABSOLUTE,
    ALIKE,
    BEYOND,
    RELATIVE,
    SHIFTED,
    Sizes,
    addition,
    ahead,
    between,
    curve,
    falls,
    figure,
    learned,
    near,
    rpe,
)

SEARCH = "symmetry/search-sums"
"""The figure that shows what was tried, for claims that small models do not reach."""


def absolute_sums(sizes: Sizes) -> Curve:
    """Addition with absolute positions (Fig 2a)."""
    return curve("ape", addition(sizes.places), Learned(width=sizes.width), sizes, BLACK, ABSOLUTE)


def relative_sums(sizes: Sizes) -> Curve:
    """Addition with relative positions (Figs 2b, 8a, 8b)."""
    return sums("rpe", "uniform", sizes, VERMILION, RELATIVE)


def shifted_sums(sizes: Sizes) -> Curve:
    """Addition with absolute positions and shift augmentation (Fig 2c, Table 1)."""
    task = addition(sizes.places, "shifted")
    knowledge = f"{ABSOLUTE}; {SHIFTED}"
    return curve("ape-shifted", task, Learned(width=sizes.width), sizes, ORANGE, knowledge)


def mixed_sums(sizes: Sizes) -> tuple[Curve, ...]:
    """Relative positions, trained on three mixtures of easy and hard sums (Fig 8c)."""
    return (
        relative_sums(sizes),
        sums("complexity", "complexity", sizes, PURPLE, f"{RELATIVE}; cascades of all lengths alike"),
        sums("half-half", "mixture", sizes, BLUE, f"{RELATIVE}; half of each"),
    )


def sums(
    name: str,
    sampler: str,
    sizes: Sizes,
    look: str,
    knowledge: str,
    *,
    encoding: Encoding | None = None,
    attention: Form | None = None,
) -> Curve:
    """Addition by length, by cascade and by run of carries; relative positions unless another encoding is given."""
    lengths = tuple(float(n) for n in range(6, sizes.long + 1))
    hard = tuple(float(n) for n in sizes.cascades)
    return curve(
        name,
        addition(sizes.long, sampler),
        encoding or rpe(sizes),
        sizes,
        look,
        knowledge,
        attention=attention,
        axes={"length": lengths, "cascade": hard, "carries": hard},
        length=sizes.complex,
    )


def sums_in_text(sizes: Sizes) -> Curve:
    """Addition among letters (Fig 7a)."""
    task = addition(sizes.places, words=sizes.words)
    knowledge = "told which tokens are digits of which significance, in half of the heads"
    return curve("text", task, Significance(per_head=sizes.per_head, std=sizes.std), sizes, BLUE, knowledge)


def plain_sums(sizes: Sizes) -> Curve:
    """Addition with relative positions on lines as short as those of text (Fig 7a)."""
    return curve("rpe-short", addition(sizes.places), rpe(sizes), sizes, VERMILION, RELATIVE)


def no_carry(sizes: Sizes) -> Curve:
    """Addition without carries (Fig 10), with the settings that carry furthest on lines as short as these."""
    sizes = near(sizes)
    task = make_task("no-carry", digits=5, width=sizes.places, spare=0)
    return curve("rpe", task, rpe(sizes), sizes, VERMILION, RELATIVE)


def cascades(sizes: Sizes) -> tuple[str, ...]:
    """The points of all cascades."""
    return tuple(f"cascade={n}" for n in sizes.cascades)


FIGURES = (
    figure(
        "fig-2a",
        "Addition with absolute positions",
        "Sums of longer numbers than in training, for a model with a learned vector for every place.",
        lambda sizes: (absolute_sums(sizes),),
        lambda sizes: (
            learned("ape"),
            falls(
                "ape",
                "validation",
                "length=6",
                "ape loses at least half at the first longer length.",
                AtLeast(0.5),
            ),
        ),
        minutes=6,
    ),
    figure(
        "fig-2b",
        "Addition with relative positions",
        "Sums of longer numbers than in training, for a model whose keys carry a vector for every distance, beside "
        "the one with absolute positions.",
        lambda sizes: (relative_sums(sizes), absolute_sums(sizes)),
        lambda sizes: (
            learned("rpe"),
            Shows(
                "rpe is at least half exact at twice the trained length.",
                AtLeast(0.5),
                Point("rpe", "length=10"),
                search=SEARCH,
            ),
            ahead("rpe", "ape", between(sizes), BEYOND),
            falls(
                "rpe",
                f"length={sizes.long - 1}",
                f"length={sizes.long}",
                "rpe falls where no pad is left between the numbers.",
                AtLeast(0.1),
                SEARCH,
            ),
        ),
        minutes=10,
    ),
    figure(
        "fig-2c",
        "Addition with absolute positions and shifted samples",
        "Sums of longer numbers than in training, for a model with absolute positions that also saw every sample "
        "with zeros on its right, beside relative positions without such help.",
        lambda sizes: (shifted_sums(sizes), relative_sums(sizes)),
        lambda sizes: (learned("ape-shifted", 0.999), ahead("rpe", "ape-shifted", between(sizes), BEYOND)),
        minutes=10,
    ),
    figure(
        "fig-7a",
        "Addition inside text",
        "Sums with up to 20 random letters before, between and after the numbers, beside sums without text.",
        lambda sizes: (sums_in_text(sizes), plain_sums(sizes)),
        lambda sizes: (
            learned("text"),
            Beats(
                "With text it is as good as without.", AtLeast(-ALIKE), "text", "rpe-short", between(sizes)
            ),
        ),
        minutes=18,
    ),
    figure(
        "fig-8a",
        "Addition with relative positions, by the longest cascade of carries",
        "Sums of one length sorted by how far a carry travels, for the models of Fig 2b.",
        lambda sizes: (relative_sums(sizes),),
        lambda sizes: (
            falls(
                "rpe",
                f"cascade={sizes.cascades[0]}",
                f"cascade={sizes.cascades[-1]}",
                "Long cascades are hard.",
                AtLeast(0.2),
            ),
        ),
        minutes=7,
        axes=("cascade",),
    ),
    figure(
        "fig-8b",
        "Addition with relative positions, by the longest run of carries",
        "Sums of one length sorted by how many carries stand in a row, for the models of Fig 2b.",
        lambda sizes: (relative_sums(sizes),),
        lambda sizes: (
            falls(
                "rpe",
                f"carries={sizes.cascades[0]}",
                f"carries={sizes.cascades[-1]}",
                "Long runs of carries are not hard.",
                AtMost(ALIKE),
            ),
        ),
        minutes=7,
        axes=("carries",),
    ),
    figure(
        "fig-8c",
        "Addition, trained on mixtures of easy and hard sums",
        "Sums of one length by their longest cascade, for models trained on numbers drawn uniformly, on cascades of "
        "all lengths alike, and on half of each.",
        mixed_sums,
        lambda sizes: (
            ahead("half-half", "rpe", cascades(sizes), "over all cascades"),
            ahead("half-half", "complexity", cascades(sizes), "over all cascades"),
        ),
        minutes=18,
        axes=("cascade",),
    ),
    figure(
        "fig-10",
        "Addition without carries",
        "Digit-wise sums of longer numbers than in training, with relative positions.",
        lambda sizes: (no_carry(sizes),),
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
