"""Text and prices in one input (v3 Fig. 6 and Figs 31-33): unseen names and larger prices."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ordinate.evaluation.predicates import AtLeast
from ordinate.models import MIXED_TYPES
from ordinate.papers.columns import Column, stored
from ordinate.papers.line_aims import LineAim, Place, Ratio
from ordinate.papers.lines import Line, Lines, Plan, Sheet, Spot
from ordinate.papers.positional.fine_tuning import fine_tune_job
from ordinate.papers.positional.gpt2 import FINE_TUNING, FineTuning, Gpt2, NotAtHandError, find_weights
from ordinate.papers.positional.sizes import described
from ordinate.papers.positional.value_scale import SCALES
from ordinate.tasks import Task, make_task
from ordinate.training import Adam, Cosine, Evaluation, Plateau, Recipe, Training

GPT2 = "GPT-2"
PUBLISHED_GPT2 = (36, 1280)
"""Layers and width of the published one, gpt2-large."""

PERCENTAGE = Column("percentage error (MAPE)", stored("percentage_error"))
SCALE_AXIS = "scale c of the prices, unseen names"
NUMBERS = Column("answers that are numbers", stored("numbers"), percent=True)


@dataclass(frozen=True)
class Size:
    """Queries, style of the text and training of a scale."""

    queries: tuple[str, ...]
    text: str
    seeds: int
    count: int
    training: Training
    samples: tuple[int, ...]
    """Sizes of the training set in the study of samples."""
    differs: str = ""
    fine_tuning: Training = FINE_TUNING
    """That of GPT-2."""

    def recipe(self, name: str, query: str, model: str, **training: Any) -> Recipe:
        """One model for one query."""
        return Recipe(
            name=f"{name}-{query}-{model}",
            task=task(query, self.text),
            model=MIXED_TYPES[model],
            training=self.training.model_copy(update=training),
            evaluation=self.evaluation,
        )

    def fine_tuned(self, query: str, model: Gpt2) -> FineTuning:
        """GPT-2 for one query."""
        return FineTuning(
            name=f"mixed-{query}-gpt2",
            task=task(query, self.text),
            model=model,
            training=self.fine_tuning,
            evaluation=self.evaluation,
        )

    @property
    def evaluation(self) -> Evaluation:
        """Unseen names and prices at every scale."""
        return Evaluation(count=self.count, axes={"beyond": SCALES})


def task(query: str, text: str) -> Task:
    """Four of eight prices, two confusing entries."""
    return make_task("mixed", queries=query, text=text)


SIZES = {
    "smoke": Size(
        ("min",),
        "words",
        1,
        20,
        Training(steps=4, batch=8),
        (20, 40),
        fine_tuning=FINE_TUNING.model_copy(update={"steps": 4, "batch": 8, "samples": 16}),
    ),
    "laptop": Size(
        ("min", "sum", "both"),
        "words",
        3,
        1000,
        Training(
            steps=4000,
            batch=256,
            optimizer=Adam(learning_rate=2e-3, betas=(0.9, 0.99)),
            schedule=Cosine(warmup=0.02),
            clip=1.0,
        ),
        (10_000, 30_000, 100_000),
        "Differs from the published setting: one symbol for a name or a query instead of letter by letter (25 tokens "
        "instead of 119), 4000 steps of fresh samples instead of 2001 epochs of 50 000, three runs instead of ten.",
    ),
    "paper": Size(
        ("min", "sum", "both"),
        "spelled",
        10,
        1000,
        Training(
            steps=2001 * 50,
            batch=1000,
            samples=50_000,
            optimizer=Adam(learning_rate=5e-4),
            schedule=Plateau(patience=10, factor=0.9, least=1e-6),
        ),
        (20_000, 35_000, 50_000, 75_000, 100_000),
    ),
}


def mixed_type(scale: str) -> Plan:
    """Both models, and GPT-2 where it is at hand, on unseen names and prices up to c times as high."""
    size = SIZES[scale]
    try:
        folder = find_weights(by_name=scale == "smoke")
    except NotAtHandError as missing:
        return _mixed_type(size, {}, f"GPT-2 is left out: {missing}.", {})
    model = Gpt2.of(folder)
    recipes = {query: size.fine_tuned(query, model) for query in size.queries}
    call = partial(fine_tune_job, folder=str(folder.resolve()))
    return _mixed_type(size, recipes, _about(model), {r.name: call for r in recipes.values()})


def _mixed_type(
    size: Size, gpt2: Mapping[str, FineTuning], said: str, calls: Mapping[str, Callable[..., str]]
) -> Plan:
    """A panel for each query; where GPT-2 is there, two more for its answers."""
    sheets: list[Sheet] = []
    aims: list[LineAim] = []
    for query in size.queries:
        lines = [
            Line.along("beyond", size.recipe("mixed", query, model), model, model) for model in MIXED_TYPES
        ]
        if query in gpt2:
            lines.append(Line.along("beyond", gpt2[query], GPT2, "baseline"))
        sheets.append(Sheet(query, SCALE_AXIS, lines))
        aims += [
            Ratio(
                f"{query}: positional is better{than} on unseen names and prices up to {c:g} times as high.",
                AtLeast(1),
                Place(query, "positional", c),
                Place(query, other, c),
            )
            for other, than in (("standard", ""), (GPT2, " than GPT-2"))
            if other != GPT2 or query in gpt2
            for c in (5.0, 10.0)
        ]
    if gpt2:
        looks = dict(zip(gpt2, ("first", "second", "hybrid"), strict=False))
        lines = [Line.along("beyond", gpt2[query], f"{GPT2}, {query}", looks[query]) for query in gpt2]
        sheets.append(Sheet("GPT-2: percentage error", SCALE_AXIS, lines, column=PERCENTAGE))
        sheets.append(Sheet("GPT-2: numbers", SCALE_AXIS, lines, column=NUMBERS))
    return Plan(sheets, aims, size.seeds, f"{size.differs} {said}".strip(), calls=calls)


def _about(model: Gpt2) -> str:
    """What a reader must know of the column."""
    said = (
        "GPT-2 reads prompts with two decimals; answers of it that are no numbers are left out of its errors, as in "
        "the published ones, and the share of those that are numbers is shown beside. A seed "
        "without any number at a point has failed there."
    )
    if (model.layers, model.width) != PUBLISHED_GPT2:
        said += (
            f" It has {model.layers} layers of width {model.width}; the published one, gpt2-large, has "
            f"{PUBLISHED_GPT2[0]} of width {PUBLISHED_GPT2[1]}."
        )
    return said


def mixed_type_samples(scale: str) -> Plan:
    """Both models from fewer and more samples, on unseen names and prices three times as high."""
    size = SIZES[scale]
    query = "min"
    recipes = {
        (model, m): size.recipe(f"mixed-{m}", query, model, samples=m)
        for model in MIXED_TYPES
        for m in size.samples
    }
    sheets = [
        Sheet(
            title,
            "training samples",
            [
                Line(model, model, {float(m): Spot(recipes[model, m], point) for m in size.samples})
                for model in MIXED_TYPES
            ],
            log_x=True,
        )
        for title, point in (
            ("in distribution", "validation"),
            ("unseen names, c = 3", "beyond=3"),
        )
    ]
    many = float(size.samples[-1])
    aims: list[LineAim] = [
        Ratio(
            f"positional is better on unseen names and prices up to 3 times as high, from {m} samples.",
            AtLeast(1),
            Place("unseen names, c = 3", "positional", float(m)),
            Place("unseen names, c = 3", "standard", float(m)),
        )
        for m in size.samples
    ]
    aims.append(
        Ratio(
            "the error of standard in distribution falls with samples.",
            AtLeast(1),
            Place("in distribution", "standard", many),
            Place("in distribution", "standard", float(size.samples[0])),
        )
    )
    return Plan(sheets, aims, size.seeds, size.differs)


MIXED = (
    Lines(
        "positional/mixed-type",
        "Prices asked for in text",
        "Mean squared error of the sum, the least or the largest of four prices named in a text, with names that "
        "training never shows and prices up to c times as high.",
        described("three queries, three seeds, about 30 minutes on 2 cores"),
        mixed_type,
    ),
    Lines(
        "positional/mixed-type-samples",
        "Prices asked for in text, from fewer samples",
        "Mean squared error of the least of four prices named in a text, over the size of the training set.",
        described("three sizes, three seeds, about 30 minutes on 2 cores"),
        mixed_type_samples,
    ),
)
