"""Proposition 5.1: the flow of inner products, gradient descent and closed forms, side by side."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from numpy import ndarray

from ordinate.lab.evaluation.predicates import AtLeast, AtMost, Between
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.ring import Flow, product_flows
from ordinate.lab.seeds import generator
from ordinate.lab.tasks.ring import Ring
from ordinate.papers.figure import Document, Figure, Progress, claims_over_seeds, published
from ordinate.papers.symmetry.ring import FALLING, OWN, rounded
from ordinate.papers.theory.descent import Descent, descend, expected_losses
from ordinate.papers.theory.flow import (
    integrate_flow,
    invariant_products,
    positions_of,
    solvable_loss,
    solvable_products,
)
from ordinate.papers.theory.ring import SHIFTED, Parameters, differences_seen


@dataclass(frozen=True)
class Flows:
    """One scale: the ring of the flow, seeds, steps of descent, and sizes for the growth of the test loss."""

    places: int
    filled: int
    dimension: int
    seeds: int
    steps: int
    alone_time: float
    """How long the flow of a window of one place is followed."""
    window_time: float
    """How long that of a larger window: it is faster."""
    sizes: tuple[tuple[int, int], ...]

    def ring(self, filled: int, neighbours: tuple[float, ...]) -> Ring:
        """The ring with a window of this many places."""
        return Ring(
            places=self.places, filled=filled, dimension=self.dimension, own=OWN, neighbours=neighbours
        )


MOMENTS = 20
"""Times at which products are compared."""


NAME = "symmetry/proposition-5.1"


def setting_of(scale: str) -> Flows:
    """What a scale is."""
    known = published("symmetry")["fig-9"]
    if scale == "smoke":
        return Flows(9, 3, 20, 2, 100, 0.5, 0.3, ((9, 20), (15, 20)))
    sizes = tuple((n, d) for d in (50, 200, 800) for n in (11, 51, 201))
    seeds, steps = (10, 25_000) if scale == "paper" else (6, 5000)
    return Flows(known["places"], known["filled"], known["dimension"], seeds, steps, 0.5, 0.15, sizes)


def compute(scale: str, progress: Progress) -> Document:
    """Follow the products of every seed three ways, and descend in rings of many sizes."""
    setting = setting_of(scale)
    parts = setting.seeds + MOMENTS + len(setting.sizes)
    solvable, windowed = setting.ring(1, (0.0,)), setting.ring(setting.filled, (FALLING,))
    times, alone = (np.linspace(0, end, MOMENTS + 1) for end in (setting.window_time, setting.alone_time))
    starts = [
        invariant_products(setting.places, setting.dimension, generator(seed, NAME))
        for seed in range(setting.seeds)
    ]
    flows, exact, gaps = [], [], []
    for place, start in enumerate(starts):
        progress(place, parts)
        flow = integrate_flow(start, solvable, alone)
        exact.append(solvable_products(start, OWN, alone))
        gaps.append(np.abs(flow - exact[-1]).max())
        flows.append(integrate_flow(start, windowed, times))
    descended = _descend(np.stack(starts), windowed, setting, lambda k: progress(setting.seeds + k, parts))
    losses = []
    for place, (n, d) in enumerate(setting.sizes):
        progress(setting.seeds + MOMENTS + place, parts)
        losses.append(_solvable_losses(n, d, setting.seeds))
    flow, closed = np.stack(flows), np.stack(exact)
    unseen = differences_seen(windowed).numpy() == 0
    ratio = np.array([n / d for n, d in setting.sizes])
    slopes = np.polyfit(np.log(ratio), np.log(np.stack(losses)), 1)[0]
    numbers = {
        "flow and closed form, n1 = 1: largest difference": np.array(gaps),
        "descent and flow: largest difference, by a": np.abs(descended - flow).max((1, 2)) / OWN,
        "n1 = 1: least growth of a product": (np.abs(closed[:, -1]) / np.abs(closed[:, 0])).min(1),
        "size where never seen, by a / sqrt(d)": np.sqrt((flow[:, -1, unseen] ** 2).mean(1))
        / (OWN / math.sqrt(setting.dimension)),
        "power of n / d in the test loss, n1 = 1": slopes,
    }
    return {
        "settings": {
            "places of the ring": setting.places,
            "filled in training": f"{setting.filled}, and 1 in the solvable case",
            "dimension": setting.dimension,
            "a": OWN,
            "b": f"{FALLING:g}, and 0 in the solvable case",
            "seeds": setting.seeds,
            "steps of descent": setting.steps,
            "rate of descent": setting.window_time / setting.steps,
            "sizes n, d of the growth": ", ".join(f"{n} / {d}" for n, d in setting.sizes),
        },
        "published_source": published("symmetry")["proposition-5.1"]["source"],
        "times": rounded(torch.from_numpy(times)),
        "solvable_times": rounded(torch.from_numpy(alone)),
        "solvable": rounded(torch.from_numpy(closed[0])),
        "solvable_flow": rounded(torch.from_numpy(integrate_flow(starts[0], solvable, alone))),
        "windowed": rounded(torch.from_numpy(flow[0])),
        "windowed_descent": rounded(torch.from_numpy(descended[0])),
        "unseen": unseen.tolist(),
        "growth": {
            "ratio": [float(f"{r:.4g}") for r in ratio],
            "losses": rounded(torch.from_numpy(np.stack(losses))),
            "expected": [solvable_loss(n, d, OWN) for n, d in setting.sizes],
        },
        "claims": _claims(numbers, scale),
        "table": {
            "headers": ["number", "median", "least", "largest"],
            "rows": [
                [name, *(show_number(float(f(values))) for f in (np.median, np.min, np.max))]
                for name, values in numbers.items()
            ],
            "caption": f"Over {setting.seeds} seeds; v is the hidden direction from the start.",
        },
    }


def draw(document: Document) -> Drawing:
    """The solvable case, the windowed case, and the growth of the test loss."""
    return product_flows(
        Flow(*(np.array(document[key]) for key in ("solvable_times", "solvable_flow", "solvable"))),
        Flow(*(np.array(document[key]) for key in ("times", "windowed", "windowed_descent"))),
        unseen=np.array(document["unseen"]),
        growth=document["growth"],
    )


def _claims(numbers: dict[str, Float[ndarray, " seed"]], scale: str) -> list[Document]:
    asked = {
        "The flow is solved by the closed form": AtMost(1e-6),
        "The flow is descent with small steps": AtMost(0.01),
        "Products of different places never shrink": AtLeast(1.0),
        "Differences that no window holds keep their products": AtLeast(0.5),
        "The test loss grows like n / d": Between(0.9, 1.1),
    }
    both = zip(asked.items(), numbers.items(), strict=True)
    named = ((f"{said} ({name}).", values, predicate) for (said, predicate), (name, values) in both)
    return claims_over_seeds(scale, named)


def _descend(
    starts: Float[ndarray, "seed place"], ring: Ring, setting: Flows, progress: Any
) -> Float[ndarray, "seed time place"]:
    """Products by difference under gradient descent on the expected loss, at the same times as the flow."""
    positions = torch.stack([positions_of(torch.from_numpy(start)) for start in starts])
    parameters = Parameters(positions, ring.direction().expand(len(starts), -1))
    descent = Descent(setting.steps // MOMENTS, setting.window_time / setting.steps, 0.0)
    found = [SHIFTED.matrix(positions)[:, :, 0]]
    for moment in range(MOMENTS):
        progress(moment)
        parameters = descend(SHIFTED, ring, parameters, descent).parameters
        found.append(SHIFTED.matrix(parameters.positions)[:, :, 0])
    products: ndarray = torch.stack(found, dim=1).numpy()
    return products


def _solvable_losses(places: int, dimension: int, seeds: int) -> Float[ndarray, " seed"]:
    """Test losses after descent with n1 = 1 and b = 0 from random positions, mean over places."""
    ring = Ring(places=places, filled=1, dimension=dimension, own=OWN, neighbours=(0.0,))
    start = SHIFTED.start(ring, range(seeds))
    aligned = Parameters(start.positions, ring.direction().expand(seeds, -1))
    end = descend(SHIFTED, ring, aligned, Descent(120, 0.03, 0.0)).parameters
    losses: ndarray = (
        expected_losses(SHIFTED.matrix(end.positions), end.direction, ring).sum(-1).mean(1).numpy()
    )
    return losses


def caption(document: Document) -> str:
    """What lines and marks are."""
    filled = document["settings"]["filled in training"].split(",")[0]
    return (
        "Products A_j of positions j places apart, first seed. Left: n1 = 1 and b = 0, flow as lines, closed form "
        f"as circles. Middle: n1 = {filled}, flow as lines, gradient descent as crosses. Right: test loss of the "
        "solvable case by descent from random positions, one dot a seed, and its expectation a^2 (n - 1) / d."
    )


FIGURES = (
    Figure(
        NAME,
        "Why shifts do not teach absolute positions",
        "Inner products of absolute positions under all shifts of the window: integrated flow, gradient descent on the "
        "expected loss and closed form, and the test loss as it grows with n / d.",
        {
            "smoke": "a small ring proves the path; no verdict",
            "laptop": "the ring of Figure 9, six seeds, some seconds",
            "paper": "the same with ten seeds and steps a fifth as long",
        },
        draw=draw,
        caption=caption,
        compute=compute,
        notes=lambda document: [
            "The proposition asks for products that depend on differences alone at the start; random ones are drawn by "
            "their frequencies, so that they are of size 1 / sqrt(d). The growth on the right starts from independent "
            "random positions instead.",
            "Everything here is expected gradients: nothing is sampled but the start.",
        ],
        needs={"scipy": "theory"},
    ),
)
