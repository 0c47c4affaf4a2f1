"""Figure 16: what the three linear models have learned, as maps over pairs of places."""

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from torch import Tensor

from ordinate.lab.evaluation.predicates import AtLeast, AtMost, Between
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.ring import ring_maps
from ordinate.lab.tasks.ring import Ring
from ordinate.papers.figure import Document, Figure, Progress, claims_over_seeds, published
from ordinate.papers.symmetry.ring import (
    SCALES,
    learn,
    median,
    notes,
    rounded,
    setting_of,
    settings_of,
    unseen_pairs,
)
from ordinate.papers.theory.ring import APE, RPE, SHIFTED, circulant, wanted

KEY = "fig-16"


def compute(scale: str, progress: Progress) -> Document:
    """Train, and measure the maps of every seed."""
    setting = setting_of(KEY, scale)
    ring, learned = setting.ring, learn(setting, progress)
    weights = learned[RPE.name].effective[:, :, 0].roll(ring.places // 2, dims=1)
    numbers = {
        **absolute_numbers(learned[APE.name].effective, ring),
        **shifted_numbers(learned[SHIFTED.name].effective, ring),
        **relative_numbers(learned[RPE.name].effective[:, :, 0], ring),
    }
    return {
        "settings": settings_of(setting),
        "published_source": published("symmetry")[KEY]["source"],
        "filled": ring.filled,
        "maps": {name: rounded(learned[name].effective[0]) for name in (APE.name, SHIFTED.name)},
        "weights": rounded(weights),
        "wanted": rounded(wanted(ring).roll(ring.places // 2)),
        "numbers": {name: rounded(values) for name, values in numbers.items()},
        "claims": _claims(numbers, scale),
        "table": {
            "headers": ["model", "number", "median", "least", "largest"],
            "rows": [
                [
                    *name.split(": "),
                    median(values),
                    *(show_number(float(end)) for end in values.aminmax()),
                ]
                for name, values in numbers.items()
            ],
            "caption": f"Over {setting.seeds} seeds.",
        },
    }


def draw(document: Document) -> Drawing:
    """Two maps of the first seed, and the relative weights of all."""
    return ring_maps(
        document["maps"],
        np.array(document["weights"]),
        np.array(document["wanted"]),
        filled=document["filled"],
        clip=0.5,
    )


def findings(document: Document) -> list[str]:
    """The size of what is left."""
    left = float(
        torch.tensor(document["numbers"][f"{SHIFTED.name}: size where never seen, by a / sqrt(d)"]).quantile(
            0.5
        )
    )
    return [
        *notes(document),
        "On a ring the corners of the maps are neighbours too: place 1 follows the last.",
        f"With shifts, weights at differences that no window holds are {show_number(left)} times a / sqrt(d) in "
        "size, where 1 is what random directions of length sqrt(a) have.",
    ]


def absolute_numbers(
    effective: Float[Tensor, "seed place place"], ring: Ring
) -> dict[str, Float[Tensor, " seed"]]:
    """The share of the wanted map that is found inside the window, and among places beyond it.

    The share is <M, T> / <T, T> over the pairs in question: 1 where M is as wanted, 0 where nothing of it is there.
    """
    target = circulant(wanted(ring))

    def share(part: slice) -> Float[Tensor, " seed"]:
        block = target[part, part]
        return (effective[:, part, part] * block).sum((-2, -1)) / (block**2).sum()

    return {
        "APE: share of the map inside the window": share(slice(0, ring.filled)),
        "APE: share of the map beyond it": share(slice(ring.filled, None)),
    }


def shifted_numbers(
    effective: Float[Tensor, "seed place place"], ring: Ring
) -> dict[str, Float[Tensor, " seed"]]:
    """Errors where windows hold the difference, sizes where none does, and the share of the test loss from there."""
    error, unseen = effective - circulant(wanted(ring)), unseen_pairs(ring)
    squares = error**2
    seen, never = (squares * (1 - unseen)).sum((-2, -1)), (squares * unseen).sum((-2, -1))
    size = ring.own / ring.dimension**0.5
    return {
        "APE + shifts: error where seen, by a": (seen / (1 - unseen).sum()).sqrt() / ring.own,
        "APE + shifts: size where never seen, by a / sqrt(d)": (never / unseen.sum()).sqrt() / size,
        "APE + shifts: share of the test loss from there": never / (seen + never),
    }


def relative_numbers(weights: Float[Tensor, "seed place"], ring: Ring) -> dict[str, Float[Tensor, " seed"]]:
    """The largest errors of the wanted weights, and the largest of all others."""
    target = wanted(ring)
    error = (weights - target).abs() / ring.own
    return {
        "RPE: largest error of a wanted weight, by a": error[:, target != 0].amax(1),
        "RPE: largest other weight, by a": error[:, target == 0].amax(1),
    }


def _claims(numbers: dict[str, Float[Tensor, " seed"]], scale: str) -> list[Document]:
    predicates = {
        "APE learns the map inside the window": Between(0.95, 1.05),
        "APE learns nothing beyond it": Between(-0.01, 0.01),
        "Shifts teach the map everywhere, at differences that a window holds": AtMost(0.02),
        "Shifts leave weights at differences never seen": AtLeast(0.5),
        "These weights are what breaks the model with shifts": AtLeast(0.95),
        "RPE finds the wanted weights": AtMost(0.01),
        "RPE is clean everywhere else": AtMost(0.01),
    }
    both = zip(predicates.items(), numbers.items(), strict=True)
    named = (
        (f"{said} ({name.partition(': ')[2]}).", values, asked) for (said, asked), (name, values) in both
    )
    return claims_over_seeds(scale, named)


FIGURES = (
    Figure(
        f"symmetry/{KEY}",
        "What positions have learned on a ring",
        "The weight from every place to every other, after training on a part of the ring: absolute positions, the "
        "same with shifts, and relative ones.",
        SCALES,
        draw=draw,
        caption="Left and middle: p_i . p_j times the part of v along the hidden direction, first seed; the dashed "
        "lines bound the places that training fills. Right: the relative weights of all seeds, wanted ones as circles.",
        compute=compute,
        notes=findings,
    ),
)
