"""Text and prices in one input (v3 Fig. 6 and Figs 31-33): unseen names and larger prices."""

from dataclasses import dataclass
from typing import Any

from ordinate.evaluation.predicates import AtLeast
from ordinate.models import MIXED_TYPES
from ordinate.papers.line_aims import LineAim, Place, Ratio
from ordinate.papers.lines import Line, Lines, Plan, Sheet, Spot
from ordinate.papers.positional.sizes import described
from ordinate.papers.positional.value_scale import SCALES
from ordinate.tasks import Task, make_task
from ordinate.training import Adam, Cosine, Evaluation, Plateau, Recipe, Training


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

    def recipe(self, name: str, query: str, model: str, **training: Any) -> Recipe:
        """One model for one query."""
        return Recipe(
            name=f"{name}-{query}-{model}",
            task=task(query, self.text),
            model=MIXED_TYPES[model],
            training=self.training.model_copy(update=training),
            evaluation=Evaluation(count=self.count, axes={"beyond": SCALES}),
        )


def task(query: str, text: str) -> Task:
    """Four of eight prices, two confusing entries."""
    return make_task("mixed", queries=query, text=text)


SIZES = {
    "smoke": Size(("min",), "words", 1, 20, Training(steps=4, batch=8), (20, 40)),
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
        "instead of 119), 4000 steps of fresh samples instead of 2001 epochs of 50 000, three runs instead of ten. "
        "GPT-2 is left out: its weights are not at hand.",
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
    """Both models on unseen names and prices up to c times as high."""
    size = SIZES[scale]
    sheets: list[Sheet] = []
    aims: list[LineAim] = []
    for query in size.queries:
        lines = [
            Line.along("beyond", size.recipe("mixed", query, model), model, model) for model in MIXED_TYPES
        ]
        sheets.append(Sheet(query, "scale c of the prices, unseen names", lines))
        aims += [
            Ratio(
                f"{query}: positional is better on unseen names and prices up to {c:g} times as high.",
                AtLeast(1),
                Place(query, "positional", c),
                Place(query, "standard", c),
            )
            for c in (5.0, 10.0)
        ]
    return Plan(sheets, aims, size.seeds, size.differs)


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
