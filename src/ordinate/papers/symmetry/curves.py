"""The trained models of the second paper as curves: which encoding, on which task, told what."""

from dataclasses import replace
from typing import Any

from ordinate.attention import Content, Form
from ordinate.encodings import Encoding, Learned, Pairwise, Significance, Upe
from ordinate.lab.tasks import Task, make_task
from ordinate.lab.training import Evaluation, Recipe
from ordinate.models import ResidualEncoder
from ordinate.papers.measured import Curve
from ordinate.papers.symmetry.sizes import Sizes, near
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


def absolute_sums(sizes: Sizes) -> Curve:
    """Addition with absolute positions (Fig 2a)."""
    return curve("ape", addition(sizes.places), Learned(width=sizes.width), sizes, "baseline", ABSOLUTE)


def relative_sums(sizes: Sizes) -> Curve:
    """Addition with relative positions (Figs 2b, 8a, 8b)."""
    return sums("rpe", "uniform", sizes, "standard", RELATIVE)


def shifted_sums(sizes: Sizes) -> Curve:
    """Addition with absolute positions and shift augmentation (Fig 2c, Table 1)."""
    task = addition(sizes.places, "shifted")
    told = f"{ABSOLUTE}; {SHIFTED}"
    return curve("ape-shifted", task, Learned(width=sizes.width), sizes, "second", told)


def mixed_sums(sizes: Sizes) -> tuple[Curve, ...]:
    """Relative positions, trained on three mixtures of easy and hard sums (Fig 8c)."""
    return (
        relative_sums(sizes),
        sums("complexity", "complexity", sizes, "rotary", f"{RELATIVE}; cascades of all lengths alike"),
        sums("half-half", "mixture", sizes, "positional", f"{RELATIVE}; half of each"),
    )


def sums(
    name: str,
    sampler: str,
    sizes: Sizes,
    role: str,
    knowledge: str,
    *,
    encoding: Encoding | None = None,
    attention: Form | None = None,
) -> Curve:
    """Addition by length, by cascade and by run of carries; relative positions unless told otherwise."""
    lengths = tuple(float(n) for n in range(6, sizes.long + 1))
    hard = tuple(float(n) for n in sizes.cascades)
    return curve(
        name,
        addition(sizes.long, sampler),
        encoding or rpe(sizes),
        sizes,
        role,
        knowledge,
        attention=attention,
        axes={"length": lengths, "cascade": hard, "carries": hard},
        length=sizes.complex,
    )


def sums_in_text(sizes: Sizes) -> Curve:
    """Addition among letters (Fig 7a)."""
    task = addition(sizes.places, words=sizes.words)
    told = "told which tokens are digits of which significance, in half of the heads"
    return curve(
        "text", task, Significance(per_head=sizes.per_head, std=sizes.std), sizes, "positional", told
    )


def plain_sums(sizes: Sizes) -> Curve:
    """Addition with relative positions on lines as short as those of text (Fig 7a)."""
    return curve("rpe-short", addition(sizes.places), rpe(sizes), sizes, "standard", RELATIVE)


def no_carry(sizes: Sizes) -> Curve:
    """Addition without carries (Fig 10), with the settings that carry furthest on lines as short as these."""
    sizes = near(sizes)
    task = make_task("no-carry", digits=5, width=sizes.places, spare=0)
    return curve("rpe", task, rpe(sizes), sizes, "standard", RELATIVE)


def products(sizes: Sizes, multiplier: int) -> dict[str, Curve]:
    """Absolute, relative, and uniform + relative positions (Figs 4 and 5)."""
    sizes = sizes.three_digits if multiplier > 1 else sizes
    task = multiplication(sizes, multiplier)
    kinds: tuple[tuple[str, Encoding, str, str], ...] = (
        ("ape", Learned(width=sizes.width), "baseline", ABSOLUTE),
        ("rpe", rpe(sizes), "standard", RELATIVE),
        ("upe", upe(sizes), "positional", UNIFORM),
    )
    return {name: curve(name, task, encoding, sizes, role, told) for name, encoding, role, told in kinds}


def shifted_products(sizes: Sizes) -> dict[str, Curve]:
    """Multipliers of three digits, absolute and relative positions, shift augmentation (Figs 5c, 5d)."""
    sizes = sizes.three_digits
    task = multiplication(sizes, 3, "shifted")
    kinds: tuple[tuple[str, Encoding, str, str], ...] = (
        ("ape-shifted", Learned(width=sizes.width), "second", f"{ABSOLUTE}; {SHIFTED}"),
        ("rpe-shifted", rpe(sizes), "rotary", f"{RELATIVE}; {SHIFTED}"),
    )
    return {name: curve(name, task, encoding, sizes, role, told) for name, encoding, role, told in kinds}


def products_in_text(sizes: Sizes) -> Curve:
    """Products among letters (Fig 7b)."""
    sizes = sizes.three_digits
    sizes = replace(sizes, steps=sizes.steps_in_text or sizes.steps)
    task = multiplication(sizes, 3, words=sizes.words)
    encoding = Significance(uniform=sizes.uniform, per_head=sizes.per_head, std=sizes.std)
    told = (
        "told which tokens are digits of which significance, and what acts alike on all, in half of the heads"
    )
    return curve("text", task, encoding, sizes, "second", told)


def curve(
    name: str,
    task: Task,
    encoding: Encoding,
    sizes: Sizes,
    role: str,
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
    return Curve(recipe, sizes.seeds, role, knowledge)
