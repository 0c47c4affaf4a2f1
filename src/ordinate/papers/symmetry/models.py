"""The models and figures of the second paper in general: encodings, tasks, one curve, and what figures claim."""

from collections.abc import Callable
from typing import Any

from ordinate.attention import Content, Form
from ordinate.encodings import Encoding, Pairwise, Upe
from ordinate.lab.evaluation.predicates import AtLeast, Predicate
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import Evaluation, Recipe
from ordinate.models import ResidualEncoder
from ordinate.papers.aims import Aim, Beats, Leads, Point, at_least
from ordinate.papers.curves import Curve, Curves, curves_figure
from ordinate.papers.figure import Figure
from ordinate.papers.symmetry.sizes import SCALES, Sizes, described, differences
from ordinate.relations import relative

ABSOLUTE = "told nothing: a learned vector for every place"
RELATIVE = "told that pairs at the same distance do the same job"
UNIFORM = "told that digits of the multiplier act alike on every place, and the rest by distance"
SHIFTED = "trained on shifted copies too"


def rpe(sizes: Sizes) -> Encoding:
    """Relative key vectors."""
    return Pairwise(relation=relative(), per_head=sizes.per_head, std=sizes.std)


def upe(sizes: Sizes) -> Encoding:
    """Uniform key vectors for the multiplier, relative ones for the rest."""
    return Upe(fields=sizes.uniform, per_head=sizes.per_head, std=sizes.std)


def addition(places: int, sampler: Any = "uniform", words: int = 0) -> Task:
    """Sums, padded to a fixed number of places: the longest numbers have no pad left."""
    options = {"sampler": sampler, "words": words}
    return make_task("addition", digits=5, width=places, spare=0, **options)


def multiplication(sizes: Sizes, multiplier: int, sampler: Any = "uniform", words: int = 0) -> Task:
    """Products, padded to a fixed number of places."""
    options = {"sampler": sampler, "words": words, "multiplier": multiplier}
    if sizes.sparse is not None:
        options["sparse"] = sizes.sparse
    return make_task("multiplication", digits=5, width=sizes.places, spare=0, **options)


def curve(
    name: str,
    task: Task,
    encoding: Encoding,
    sizes: Sizes,
    look: str,
    knowledge: str,
    *,
    attention: Form | None = None,
    axes: dict[str, tuple[float, ...]] | None = None,
    length: int | None = None,
) -> Curve:
    """One model in the sizes of a scale."""
    recipe = Recipe(
        name=name,
        task=task,
        model=ResidualEncoder(
            layers=sizes.layers,
            heads=sizes.heads,
            width=sizes.width,
            hidden=sizes.hidden,
            gated=sizes.gated,
            dropout=sizes.dropout,
            encoding=(encoding,),
            attention=attention or Content(),
        ),
        training=sizes.training.model_copy(update={"steps": sizes.steps}),
        evaluation=Evaluation(count=sizes.count, axes=axes or {"length": sizes.beyond}, length=length),
    )
    return Curve(recipe, sizes.seeds, look, knowledge)


def figure(
    name: str,
    title: str,
    summary: str,
    curves: Callable[[Sizes], tuple[Curve, ...]],
    aims: Callable[[Sizes], tuple[Aim, ...]],
    *,
    minutes: int,
    axes: tuple[str, ...] = ("length",),
    at: tuple[str, ...] = tuple(SCALES),
) -> Figure:
    """A figure from its curves and aims, both functions of the sizes of a scale."""

    def plan(scale: str) -> Curves:
        sizes = SCALES[scale]
        here, published = curves(sizes), curves(SCALES["paper"])
        differs = differences([curve.recipe for curve in here], [curve.recipe for curve in published])
        return Curves(here, aims(sizes), differs)

    return curves_figure(f"symmetry/{name}", title, summary, described(minutes, at), plan, axes=axes)


MARGIN = 0.02
"""Exact match by which one model must at least be ahead of another to beat it."""

ALIKE = 0.1
"""Exact match within which one model is as good as another."""


BEYOND = "beyond the trained lengths"


def between(sizes: Sizes, last: int | None = None) -> tuple[str, ...]:
    """The lengths beyond training that leave a pad between the numbers."""
    return tuple(f"length={n}" for n in range(6, last or sizes.places))


def learned(label: str, share: float = 0.9) -> Aim:
    """In distribution the model has learned the task."""
    return at_least(label, "validation", share, f"In distribution, {label} is at least {share:.1%} exact.")


def ahead(better: str, worse: str, points: tuple[str, ...], where: str) -> Aim:
    """One model beats another."""
    return Beats(f"{better} is ahead of {worse} {where}.", AtLeast(MARGIN), better, worse, points)


def falls(curve: str, earlier: str, point: str, sentence: str, predicate: Predicate) -> Aim:
    """How much lower a curve is at a point than at an earlier one."""
    return Leads(sentence, predicate, Point(curve, earlier), Point(curve, point))
