"""Figures 9 and 15: losses of the three linear models, in training and by place when the whole ring is filled."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from jaxtyping import Float
from matplotlib.figure import Figure as Drawing
from torch import Tensor

from ordinate.lab.evaluation.predicates import AtLeast, AtMost, Between, Predicate
from ordinate.lab.report.curves import Panel, Series
from ordinate.lab.report.numbers import show_number
from ordinate.lab.report.ring import ring_losses
from ordinate.papers.figure import Document, Figure, Progress, claims_over_seeds, published
from ordinate.papers.symmetry.ring import (
    LOOKS,
    SCALES,
    Learned,
    RingScale,
    learn,
    median,
    notes,
    rounded,
    setting_of,
    settings_of,
)
from ordinate.papers.theory.descent import descend, expected_losses, sampled_losses, train
from ordinate.papers.theory.flow import loss_of_nothing
from ordinate.papers.theory.ring import (
    APE,
    MODELS,
    RPE,
    SHIFTED,
    Parameters,
    differences_seen,
    pairs_seen,
    same_products,
)


def compute(key: str, scale: str, progress: Progress) -> Document:
    """Train on batches, test on whole rings, and follow the expected gradients of the model with shifts."""
    setting = setting_of(key, scale)
    learned = learn(setting, progress)
    tests = {
        name: sampled_losses(model.matrix, model.direction, setting.ring, count=setting.tests)
        for name, model in learned.items()
    }
    expected = _expected_by_place(setting, learned[SHIFTED.name].start)
    large = _large_batches(setting, learned[SHIFTED.name].start)
    kept = _kept_without_decay(setting, learned[RPE.name])
    nothing = loss_of_nothing(setting.ring)
    ends = {
        model.name: _training_loss(setting, learned[model.name], model.windows(setting.ring))
        for model in MODELS
    }
    cosines = {name: _cosine(model, setting) for name, model in learned.items()}
    beyond = {name: losses[:, setting.ring.filled :].mean(1) for name, losses in tests.items()}
    curves = {
        name: {
            "steps": model.path.steps,
            "training": rounded(model.path.losses),
            "training_end": rounded(ends[name]),
            "test": rounded(tests[name]),
            "beyond": rounded(beyond[name]),
            "cosine": rounded(cosines[name]),
        }
        for name, model in learned.items()
    }
    batches = (
        f"APE + shifts: batches of {setting.large_batch} end where expected gradients end (loss beyond the window, "
        "ratio).",
        large / expected[:, setting.ring.filled :].mean(1),
        Between(0.9, 1.1),
    )
    return {
        "settings": settings_of(setting),
        "published_source": published("symmetry")[key]["source"],
        "filled": setting.ring.filled,
        "nothing": nothing,
        "curves": curves,
        "shifts_expected": {
            "test": rounded(expected.median(0).values),
            "beyond": rounded(expected[:, setting.ring.filled :].mean(1)),
            "beyond_by_large_batches": rounded(large),
            "large_batch": setting.large_batch,
        },
        "relative_without_decay": rounded(kept),
        "claims": claims_over_seeds(scale, [*_claims(ends, beyond, cosines, nothing), batches]),
        "table": {
            "headers": ["model", "training loss", "loss beyond", "of nothing", "cosine of v", "seeds"],
            "rows": [
                [
                    name,
                    median(ends[name]),
                    median(beyond[name]),
                    f"{float(beyond[name].quantile(0.5)) / nothing:.1%}",
                    f"{float(cosines[name].quantile(0.5)):.5f}",
                    str(setting.seeds),
                ]
                for name in learned
            ],
            "caption": "Expected training loss at the last step; test loss of the places that training leaves "
            "empty; its share of the loss of the answer 0; absolute cosine of v with the hidden direction. "
            "Medians over seeds.",
        },
    }


def draw(document: Document) -> Drawing:
    """Training on the left, test on the right."""
    training, test = [], []
    for name, curve in document["curves"].items():
        places = list(range(1, len(curve["test"][0]) + 1))
        training.append(Series(name, LOOKS[name], curve["steps"][1:], [row[1:] for row in curve["training"]]))
        test.append(Series(name, LOOKS[name], places, curve["test"]))
    return ring_losses(
        Panel("training", "step", "loss of a batch", training, trained_to=None),
        Panel("test, all places filled", "place", "test loss", test, trained_to=document["filled"]),
        level=document["nothing"],
        level_name="answer 0: $a^2 + 2\\sum b_k^2$",
        expected=document["shifts_expected"]["test"],
    )


def findings(document: Document) -> list[str]:
    """What small batches add, and what RPE owes to weight decay."""

    def middle(values: list[float]) -> float:
        return float(torch.tensor(values).quantile(0.5))

    sampled = middle(document["curves"][SHIFTED.name]["beyond"])
    expected = middle(document["shifts_expected"]["beyond"])
    large = document["shifts_expected"]["large_batch"]
    calm = middle(document["shifts_expected"]["beyond_by_large_batches"])
    kept = middle(document["relative_without_decay"])
    return [
        *notes(document),
        f"With shifts, expected gradients lead to a loss of {show_number(expected)} beyond the window, batches of "
        f"{large} to {show_number(calm)}, and the small batches drawn here to {show_number(sampled)}: their noise "
        "moves the differences that are never seen, too.",
        "Weight decay is what makes RPE clean: differences that no window holds are in no loss of RPE either. "
        f"Without it they would keep their start, and a loss of about {show_number(kept)} at every place.",
    ]


def losses_figure(key: str, title: str, summary: str) -> Figure:
    """Training loss by step, and test loss by place."""
    return Figure(
        f"symmetry/{key}",
        title,
        summary,
        SCALES,
        draw=draw,
        caption="Left: squared error of a batch in training, {settings[filled in training]} of "
        "{settings[places of the ring]} places filled. Right: squared error of every place, mean over "
        "{settings[test samples]} rings with all places filled. Thick lines are medians over {settings[seeds]} seeds; "
        "the dashed line follows the expected gradients of the model with shifts from the same starts.",
        compute=partial(compute, key),
        notes=findings,
    )


def _claims(
    ends: dict[str, Float[Tensor, " seed"]],
    beyond: dict[str, Float[Tensor, " seed"]],
    cosines: dict[str, Float[Tensor, " seed"]],
    nothing: float,
) -> Iterator[tuple[str, Float[Tensor, " seed"], Predicate]]:
    """Losses are given as shares of the loss of the answer 0."""
    for name, end in ends.items():
        yield (
            f"{name}: the training loss comes to zero (share of the answer 0's).",
            end / nothing,
            AtMost(0.01),
        )
    yield (
        "APE: beyond the window the loss is a^2 + 2 sum b^2, that of the answer 0 (ratio).",
        beyond[APE.name] / nothing,
        Between(0.98, 1.02),
    )
    yield (
        "APE + shifts: beyond the window the loss stays above zero (share of the answer 0's).",
        beyond[SHIFTED.name] / nothing,
        AtLeast(0.01),
    )
    yield (
        "RPE: beyond the window the loss is zero as well (share of the answer 0's).",
        beyond[RPE.name] / nothing,
        AtMost(0.001),
    )
    yield (
        "v aligns with the hidden direction in all models (least absolute cosine).",
        torch.stack(list(cosines.values())).amin(0),
        AtLeast(0.999),
    )


def _expected_by_place(setting: RingScale, start: Parameters) -> Float[Tensor, "seed place"]:
    """Expected test losses after descent on expected gradients, shifts included."""
    small = Parameters(same_products(start.positions), start.direction)
    end = descend(SHIFTED, setting.ring, small, setting.descent_of(SHIFTED)).parameters
    return expected_losses(SHIFTED.matrix(end.positions), end.direction, setting.ring).sum(-1)


def _large_batches(setting: RingScale, start: Parameters) -> Float[Tensor, " seed"]:
    """Expected loss beyond the window after a shorter training with shifts on large batches."""
    descent = replace(setting.descent_of(SHIFTED), steps=setting.large_steps)
    seeds = range(setting.seeds)
    end = train(SHIFTED, setting.ring, start, descent, seeds=seeds, batch=setting.large_batch).parameters
    losses = expected_losses(SHIFTED.matrix(end.positions).double(), end.direction.double(), setting.ring)
    return losses.sum(-1)[:, setting.ring.filled :].mean(1)


def _kept_without_decay(setting: RingScale, learned: Learned) -> Float[Tensor, " seed"]:
    """The loss of RPE if the differences that no window holds had kept their start."""
    unseen = differences_seen(setting.ring) == 0
    along = learned.direction @ setting.ring.direction()
    return (learned.start.positions[:, unseen] ** 2).sum(1) * along**2


def _training_loss(setting: RingScale, learned: Learned, windows: Tensor) -> Float[Tensor, " seed"]:
    """Expected training loss of a place, mean over windows."""
    seen = pairs_seen(windows, setting.ring.places)
    losses = expected_losses(learned.matrix, learned.direction, setting.ring)
    return (seen * losses).sum((-2, -1)) / windows.numel()


def _cosine(learned: Learned, setting: RingScale) -> Float[Tensor, " seed"]:
    return torch.nn.functional.cosine_similarity(learned.direction, setting.ring.direction()[None]).abs()


FIGURES = (
    losses_figure(
        "fig-9",
        "Absolute, shifted and relative positions on a ring",
        "Linear attention by position alone learns to add up neighbours on a ring of which training fills a part; only "
        "relative positions carry over to the rest.",
    ),
    losses_figure(
        "fig-15",
        "Absolute, shifted and relative positions on a ring, five neighbours",
        "The same as Figure 9 for sums over five neighbours on each side: training and test loss by place.",
    ),
)
