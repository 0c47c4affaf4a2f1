"""The trained figures of the second paper in general: sizes of the scales, models, tasks, curves, and what is claimed.

`paper` is appendix B as written, `laptop` what 2 cores can do; a report says in what a scale differs from the paper.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ordinate.attention import Content, Form
from ordinate.encodings import Encoding, Pairwise, Upe
from ordinate.lab.evaluation.predicates import AtLeast, Predicate
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import AdamW, Evaluation, Linear, Muon, Pick, Recipe, Training
from ordinate.models import ResidualEncoder
from ordinate.papers.aims import Aim, Beats, Leads, Point, at_least
from ordinate.papers.curves import Curve, Curves, curves_figure
from ordinate.papers.figure import SMOKE as PROVES_PATH
from ordinate.papers.figure import Figure
from ordinate.relations import relative


@dataclass(frozen=True)
class Sizes:
    """Sizes of models, lines, training and tests."""

    layers: int
    heads: int
    width: int
    hidden: int
    places: int
    """Digits to which numbers are padded in training and in every test: the paper's l."""
    long: int
    """The same for the figures of relative positions in addition, where the paper has 50."""
    complex: int
    """Digits of the sums that are sorted by cascades and runs of carries: longer than in training, but not so long that
    length alone decides."""
    cascades: tuple[int, ...]
    steps: int
    training: Training
    seeds: int
    count: int
    """Test samples at every point."""
    dropout: float = 0.1
    gated: bool = False
    """Whether hidden units are products (GEGLU)."""
    words: int = 20
    """At most this many random letters before, between and after numbers in text."""
    steps_in_text: int | None = None
    """Steps for products in text where they are not `steps`: their lines are longer, and a figure has its hour."""
    uniform: tuple[str, ...] = ("multiplier",)
    """Fields whose tokens act alike on every place, in uniform positions."""
    sparse: float | None = None
    """Where given, the share of multipliers in training that have zeros for about half of their digits."""
    per_head: bool = False
    """Whether every head has pairwise vectors of its own; the paper has one table a layer."""
    std: float = 0.02
    """Of the first pairwise vectors."""
    description: str = ""
    hard: "Sizes | None" = None
    """For multipliers of three digits, where they need other sizes."""

    @property
    def three_digits(self) -> "Sizes":
        """The sizes for multipliers of three digits."""
        return self.hard or self

    @property
    def beyond(self) -> tuple[float, ...]:
        """Lengths longer than those of training, up to where no pad is left."""
        return tuple(float(n) for n in range(6, self.places + 1))


SMOKE = Sizes(
    layers=1,
    heads=2,
    width=16,
    hidden=16,
    places=8,
    long=10,
    complex=7,
    cascades=(1, 5),
    steps=4,
    training=Training(batch=8, optimizer=AdamW(), pick=Pick(value=7.0, count=8, every=2)),
    seeds=1,
    count=8,
    description=PROVES_PATH,
)

LAPTOP = Sizes(
    layers=4,
    heads=4,
    width=64,
    hidden=128,
    places=12,
    long=15,
    complex=9,
    cascades=tuple(range(1, 9)),
    steps=4000,
    dropout=0.0,
    per_head=True,
    std=0.5,
    training=Training(
        batch=64,
        optimizer=AdamW(learning_rate=2e-3, betas=(0.9, 0.99), weight_decay=0.1),
        schedule=Linear(warmup=0.03),
        clip=1.0,
        average=0.998,
        pick=Pick(value=8.0, count=200, every=250),
    ),
    seeds=3,
    count=300,
    description="three seeds of smaller models on shorter lines",
)

HARD = replace(
    LAPTOP,
    layers=5,
    heads=8,
    width=128,
    hidden=256,
    steps=6500,
    dropout=0.1,
    gated=True,
    words=3,
    steps_in_text=4500,
    uniform=("multiplier", "sign"),
    sparse=0.5,
    training=LAPTOP.training.model_copy(
        update={"optimizer": Muon(learning_rate=5e-3, betas=(0.9, 0.99), weight_decay=0.1)}
    ),
)
"""Products with three digits are learned slowly: wider and deeper models, orthogonal steps, and zeros in multipliers,
which show what each digit does."""

PAPER = Sizes(
    layers=6,
    heads=8,
    width=768,
    hidden=3072,
    places=20,
    long=50,
    complex=40,
    cascades=tuple(range(1, 21)),
    steps=100_000,
    training=Training(
        batch=64,
        samples=100_000,
        optimizer=AdamW(learning_rate=1e-4, weight_decay=1e-5),
        schedule=Linear(warmup=0.01),
        pick=Pick(value=10.0, count=200, every=1000),
    ),
    seeds=3,
    count=1000,
    description="appendix B as written, for GPUs; epochs and the rate's schedule are not published",
)

SCALES = {
    "smoke": SMOKE,
    "laptop": replace(LAPTOP, hard=HARD),
    "paper": replace(
        PAPER,
        hard=replace(
            PAPER,
            layers=9,
            steps=500_000,
            training=PAPER.training.model_copy(update={"samples": 500_000}),
        ),
    ),
}


def near(sizes: Sizes) -> Sizes:
    """Dropout and first vectors as published, with the rest of a scale."""
    return replace(sizes, dropout=PAPER.dropout, std=PAPER.std, per_head=PAPER.per_head)


def described(minutes: int, at: tuple[str, ...] = tuple(SCALES)) -> dict[str, str]:
    """What is said of the scales of a figure; `minutes` where no other figure has trained its models."""
    said = {name: SCALES[name].description for name in at}
    return said | {"laptop": f"{said['laptop']}, about {minutes} minutes on 2 cores"}


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

    @curves_figure(f"symmetry/{name}", title, summary, described(minutes, at), axes=axes)
    def made(scale: str) -> Curves:
        sizes = SCALES[scale]
        here, published = curves(sizes), curves(SCALES["paper"])
        differs = differences([curve.recipe for curve in here], [curve.recipe for curve in published])
        return Curves(here, aims(sizes), differs)

    return made


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


def falls(
    curve: str, earlier: str, point: str, sentence: str, predicate: Predicate, search: str | None = None
) -> Aim:
    """How much lower a curve is at a point than at an earlier one."""
    return Leads(sentence, predicate, Point(curve, earlier), Point(curve, point), search=search)


DIFFERS = "differs from the paper"


def differences(recipes: Sequence[Recipe], published: Sequence[Recipe]) -> dict[str, str]:
    """What a report says: `published` are the recipes of the same models at `paper` scale, in the same order."""
    pairs = list(zip(recipes, published, strict=True))
    if all(ours == theirs for ours, theirs in pairs):
        return {DIFFERS: "LayerNorm before attention, not after it; epochs are not published"}
    return {DIFFERS: "; ".join(dict.fromkeys(part for pair in pairs for part in _listed(*pair)))}


def _listed(ours: Recipe, theirs: Recipe) -> Iterator[str]:
    a, b = ours.model, theirs.model
    assert isinstance(a, ResidualEncoder)
    assert isinstance(b, ResidualEncoder)
    yield (
        f"{a.layers} layers, {a.heads} heads, width {a.width} and {a.hidden} hidden units for {b.layers}, {b.heads}, "
        f"{b.width} and {b.hidden}"
    )
    yield "LayerNorm before attention"
    if a.gated and not b.gated:
        yield "gated hidden units"
    if a.dropout != b.dropout:
        yield f"dropout of {a.dropout:g} for {b.dropout:g}"
    yield from _of_data(ours, theirs)
    yield from _of_encoding(a.encoding[0], b.encoding[0], ours.name)
    if ours.evaluation.length != theirs.evaluation.length:
        yield f"cascades and runs of carries in sums of {ours.evaluation.length} digits for {theirs.evaluation.length}"


def _of_data(ours: Recipe, theirs: Recipe) -> Iterator[str]:
    """What is trained on, and how."""
    a: Any = ours.task
    b: Any = theirs.task
    if a.width != b.width:
        yield f"numbers padded to {a.width} places for {b.width}"
    if a.words != b.words:
        yield f"at most {a.words} letters for {b.words} where numbers stand in text"
    if getattr(a, "sparse", None) is not None and b.sparse is None:
        yield f"in training {a.sparse:.0%} of the multipliers have zeros for about half of their digits"
    if ours.training.samples is None and theirs.training.samples is not None:
        yield f"fresh samples instead of a set of {theirs.training.samples}"
    if ours.training.optimizer != theirs.training.optimizer:
        yield " for ".join(
            f"{by.name} with rate {by.learning_rate:g}, betas {by.betas[0]:g} and {by.betas[1]:g} and decay "
            f"{by.weight_decay:g}"
            for by in (ours.training.optimizer, theirs.training.optimizer)
        )
    if ours.training.average and not theirs.training.average:
        yield "averaged weights"


def _of_encoding(a: Any, b: Any, name: str) -> Iterator[str]:
    if hasattr(a, "std") and a.std != b.std:
        yield f"pairwise vectors start at a standard deviation of {a.std:g} for {b.std:g}"
    if hasattr(a, "per_head") and a.per_head and not b.per_head:
        yield "one table of them a head"
    for kind in ("fields", "uniform"):
        if more := sorted(set(getattr(a, kind, None) or ()) - set(getattr(b, kind, None) or ())):
            yield f"in {name} the {' and '.join(more)} acts alike on every place too"
