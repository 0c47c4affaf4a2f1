"""The three linear models on the ring, trained and tested: what Figures 9, 15 and 16 share."""

from dataclasses import dataclass, replace
from typing import Any

from jaxtyping import Float
from torch import Tensor

from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.style import BLUE, ORANGE, VERMILION
from ordinate.lab.tasks.ring import Ring
from ordinate.papers.figure import Document, Progress, published
from ordinate.papers.theory.descent import Descent, Path, train
from ordinate.papers.theory.ring import (
    MODELS,
    SHIFTED,
    LinearModel,
    Parameters,
    circulant,
    differences_seen,
    least_response,
)

LOOKS = {"APE": VERMILION, "APE + shifts": ORANGE, "RPE": BLUE}
OWN = 2.0
"""a; the paper asks for a > 1, the size of p_k . p_k before training."""

FALLING = 0.5
"""b_1; the others fall linearly to 0, which keeps a + 2 sum_k b_k cos(k w) above 0."""


@dataclass(frozen=True)
class RingScale:
    """One scale: the ring, and how it is trained and tested."""

    ring: Ring
    seeds: int
    batch: int
    descent: Descent
    shifted_rate: float
    """Rate of the model with shifts: its positions are in many windows and need smaller steps."""
    tests: int
    large_batch: int
    """Batch of a second, shorter training of the model with shifts, in which the noise of small ones is gone."""
    large_steps: int

    def descent_of(self, model: LinearModel) -> Descent:
        """Gradient descent of a model."""
        return replace(self.descent, rate=self.shifted_rate) if model is SHIFTED else self.descent


@dataclass(frozen=True)
class Learned:
    """A model after training, with what it multiplies <th, x_r> by at every place."""

    start: Parameters
    path: Path
    matrix: Float[Tensor, "seed place place"]
    direction: Float[Tensor, "seed feature"]
    effective: Float[Tensor, "seed place place"]


SCALES = {
    "smoke": "a small ring and a few steps prove the path; no verdict",
    "laptop": "the published ring and dimension, six seeds, at most a minute on one core",
    "paper": "the same with ten seeds, larger batches and a tenth of the weight decay; an hour or two",
}


def setting_of(key: str, scale: str) -> RingScale:
    """What a scale of a figure is. The rates are those that descend without leaving the valley at each window size."""
    known = published("symmetry")[key]
    m = known["neighbours"]
    weights = tuple(FALLING * (m + 1 - k) / m for k in range(1, m + 1))
    if scale == "smoke":
        ring = Ring(places=4 * m + 5, filled=m + 3, dimension=20, own=OWN, neighbours=weights)
        return RingScale(ring, 2, 8, Descent(60, 6e-3, 2e-3, 0.2, logs=20), 1e-3, 100, 16, 60)
    ring = Ring(
        places=known["places"],
        filled=known["filled"],
        dimension=known["dimension"],
        own=OWN,
        neighbours=weights,
    )
    shifted = 1e-2 / known["filled"]
    if scale == "paper":
        descent = Descent(50_000, 6e-3, 1e-3, 0.02)
        return RingScale(ring, 10, 64, descent, shifted, known["test samples"], 256, 2000)
    descent = Descent(4000, 6e-3, 5e-4, 0.25)
    return RingScale(ring, 6, 8, descent, shifted, known["test samples"], 64, 700)


def learn(setting: RingScale, progress: Progress) -> dict[str, Learned]:
    """Train every model on batches."""
    seeds = range(setting.seeds)
    steps = len(MODELS) * setting.descent.steps
    learned = {}
    for place, model in enumerate(MODELS):
        start = model.start(setting.ring, seeds)
        done = place * setting.descent.steps
        path = train(
            model,
            setting.ring,
            start,
            setting.descent_of(model),
            seeds=seeds,
            batch=setting.batch,
            report=lambda step, done=done: progress(done + step, steps),  # type: ignore[misc]
        )
        matrix, direction = (
            model.matrix(path.parameters.positions).double(),
            path.parameters.direction.double(),
        )
        along = direction @ setting.ring.direction()
        learned[model.name] = Learned(start, path, matrix, direction, matrix * along[:, None, None])
    return learned


def settings_of(setting: RingScale) -> dict[str, Any]:
    """The settings for the report."""
    ring, descent = setting.ring, setting.descent
    return {
        "places of the ring": ring.places,
        "filled in training": ring.filled,
        "dimension": ring.dimension,
        "a": ring.own,
        "b": ", ".join(f"{b:g}" for b in ring.neighbours),
        "least of a + 2 sum b cos(k w)": least_response(ring),
        "seeds": setting.seeds,
        "steps": descent.steps,
        "batch": f"{setting.batch} fresh samples, one window each",
        "learning rate": f"{descent.rate:g} (positions; {setting.shifted_rate:g} times windows with shifts), "
        f"{descent.direction_rate:g} (v)",
        "weight decay": descent.decay,
        "start": "Gaussian positions of norm about 1, v a random unit vector",
        "test samples": setting.tests,
    }


def notes(document: Document) -> list[str]:
    """What the paper leaves open, and whether zero loss can be reached at all."""
    return [
        "All three models train v and their positions from random starts on fresh batches, by gradient descent "
        "with weight decay. Loss and test are squared errors of one place. The training loss that is left is the "
        "price of weight decay: it falls with its square.",
        _reach(document["settings"]["least of a + 2 sum b cos(k w)"]),
    ]


def unseen_pairs(ring: Ring) -> Float[Tensor, "place place"]:
    """1 where the difference of two places is in no window, else 0."""
    return (circulant(differences_seen(ring)) == 0).double()


def rounded(values: Float[Tensor, "*shape"]) -> Any:
    """Plain numbers with four significant figures."""
    if values.ndim:
        return [rounded(value) for value in values]
    return float(f"{float(values):.4g}")


def median(values: Float[Tensor, " seed"]) -> str:
    """The median over seeds as a person reads it."""
    return show_number(float(values.double().quantile(0.5)))


def _reach(least: float) -> str:
    if least >= 0:
        return (
            f"a + 2 sum_k b_k cos(k w) is at least {least:.3g} on this ring: inner products of positions can be what "
            "the task asks for, so zero training loss is within reach of APE with shifts."
        )
    return (
        f"a + 2 sum_k b_k cos(k w) falls to {least:.3g} on this ring: no inner products of positions can be what the "
        "task asks for, so APE with shifts cannot reach zero training loss."
    )
