"""Text and prices in one input (v3 Fig. 6 and Figs 31-33): unseen names and larger prices.

Beside the models stands the least error of an answer that was never asked anything: what prices tell by themselves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.lab.architectures import MIXED_TYPES
from ordinate.lab.evaluation.predicates import AtLeast, AtMost
from ordinate.lab.report.style import GREEN, ORANGE, SKY
from ordinate.lab.seeds import generator
from ordinate.lab.tasks import make_task
from ordinate.lab.tasks.mixed_types import MixedTypes
from ordinate.lab.training import Adam, Cosine, Evaluation, Plateau, Recipe, Training
from ordinate.papers.aims import Aim, Place, Ratio, Shows, across, along
from ordinate.papers.positional.fine_tuning import fine_tune_job
from ordinate.papers.positional.gpt2 import FINE_TUNING, FineTuning, Gpt2, NotAtHandError, find_weights
from ordinate.papers.positional.value_scale import SCALES, described
from ordinate.papers.sheets import Column, Exact, Line, Scale, Sheet, Sheets, sheets_figure, stored

GPT2 = "GPT-2"
PUBLISHED_GPT2 = (36, 1280)
"""Layers and width of the published one, gpt2-large."""

PERCENTAGE = Column("percentage error (MAPE)", stored("percentage_error"))
SCALE_AXIS = "scale c of the prices"
SEEN, UNSEEN = "names of training", "unseen names"
BLIND = "prices alone"
"""The label of the best answer that does not know the question."""
NUMBERS = Column("answers that are numbers", stored("numbers"), percent=True)


@dataclass(frozen=True, kw_only=True)
class MixedScale(Scale):
    """Queries, style of the text, and what GPT-2 is trained with."""

    queries: tuple[str, ...]
    text: str
    samples: tuple[int, ...]
    """Sizes of the training set in the study of samples."""
    fine_tuning: Training = FINE_TUNING

    def model(self, name: str, query: str, model: str, **training: Any) -> Recipe:
        """One model for one query."""
        return self.recipe(
            f"{name}-{query}-{model}", task(query, self.text), MIXED_TYPES[model], AXES, **training
        )

    def fine_tuned(self, query: str, model: Gpt2) -> FineTuning:
        """GPT-2 for one query."""
        return FineTuning(
            name=f"mixed-{query}-gpt2",
            task=task(query, self.text),
            model=model,
            training=self.fine_tuning,
            evaluation=Evaluation(count=self.count, axes=AXES),
        )


AXES = {"scale": SCALES, "beyond": SCALES}
"""Prices at every scale, with the names of training and with unseen ones."""


def task(query: str, text: str) -> MixedTypes:
    """Four of eight prices, two confusing entries."""
    made = make_task("mixed", queries=query, text=text)
    assert isinstance(made, MixedTypes)
    return made


SAMPLES = 20_000
"""Lists of prices that the mean goes over."""


def answers(prices: Float[Tensor, "batch category"], task: MixedTypes) -> Float[Tensor, "batch question"]:
    """The answers to all questions that a task may ask about the same prices, each as likely as the others.

    >>> prices = torch.tensor([[4.0, 1.0, 3.0]])
    >>> answers(prices, MixedTypes(categories=3, asked=2, queries="min")).tolist()
    [[1.0, 3.0, 1.0]]
    """
    subsets = torch.tensor(list(combinations(range(task.categories), task.asked)))
    chosen = prices[:, subsets]
    of = {"sum": chosen.sum(-1), "min": chosen.amin(-1), "max": chosen.amax(-1)}
    return torch.cat([of[query] for query in task.queries], dim=1)


@lru_cache(maxsize=256)
def blind_error(task: MixedTypes, scale: float) -> float:
    """The mean squared error of the best answer that knows the prices alone, at a scale of theirs.

    That answer is the mean over questions, so its error is the mean over prices of the variance over questions.
    """
    batch = task.sample(SAMPLES, generator=generator(0, "blind"), scale=scale)
    _, prices = task.read(batch.input)
    return float(answers(prices.double(), task).var(-1, correction=0).mean())


def blind(query: str, text: str) -> Exact:
    """The least error without the question, at every scale."""
    return Exact(BLIND, "baseline", SCALES, partial(blind_error, task(query, text)))


READING = (
    "Prices alone: the best answer that knows the prices and not the question, computed. A model near that line has "
    "learned to carry numbers and not to read."
)

SIZES = {
    "smoke": MixedScale(
        queries=("min",),
        text="words",
        samples=(20, 40),
        training=Training(steps=4, batch=8),
        seeds=1,
        count=20,
        fine_tuning=FINE_TUNING.model_copy(update={"steps": 4, "batch": 8, "samples": 16}),
    ),
    "laptop": MixedScale(
        queries=("min", "sum", "both"),
        text="words",
        samples=(10_000, 30_000, 100_000),
        training=Training(
            steps=4000,
            batch=256,
            optimizer=Adam(learning_rate=2e-3, betas=(0.9, 0.99)),
            schedule=Cosine(warmup=0.02),
            clip=1.0,
        ),
        seeds=3,
        count=1000,
        differs="Differs from the published setting: one symbol for a name or a query instead of letter by letter (25 "
        "tokens instead of 119), 4000 steps of fresh samples instead of 2001 epochs of 50 000, three runs instead of "
        "ten.",
    ),
    "paper": MixedScale(
        queries=("min", "sum", "both"),
        text="spelled",
        samples=(20_000, 35_000, 50_000, 75_000, 100_000),
        training=Training(
            steps=2001 * 50,
            batch=1000,
            samples=50_000,
            optimizer=Adam(learning_rate=5e-4),
            schedule=Plateau(patience=10, factor=0.9, least=1e-6),
        ),
        seeds=10,
        count=1000,
    ),
}


@sheets_figure(
    "positional/mixed-type",
    "Prices asked for in text",
    "Mean squared error of the sum, the least or the largest of four prices named in a text, with names that "
    "training never shows and prices up to c times as high.",
    described("three queries, three seeds, about 30 minutes on 2 cores"),
)
def mixed_type(scale: str) -> Sheets:
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
    size: MixedScale, gpt2: Mapping[str, FineTuning], said: str, calls: Mapping[str, Callable[..., str]]
) -> Sheets:
    """Two panels for each query, by names; where GPT-2 is there, two more for its answers."""
    sheets: dict[str, list[Sheet]] = {SEEN: [], UNSEEN: []}
    aims: list[Aim] = []
    for query in size.queries:
        recipes: dict[str, Any] = {model: size.model("mixed", query, model) for model in MIXED_TYPES}
        looks = {model: model for model in MIXED_TYPES}
        if query in gpt2:
            recipes[GPT2], looks[GPT2] = gpt2[query], GREEN
        for names, axis, trained_to in ((SEEN, "scale", 1.0), (UNSEEN, "beyond", None)):
            lines = [Line.along(axis, recipes[label], label, look) for label, look in looks.items()]
            every: list[Line | Exact] = [*lines, blind(query, size.text)]
            sheets[names].append(Sheet(f"{query}, {names}", SCALE_AXIS, every, trained_to=trained_to))
        aims += _aims(query, size.text, tuple(recipes))
    columns = len(size.queries)
    both = sheets[SEEN] + sheets[UNSEEN]
    if gpt2:
        lines = [
            Line.along("beyond", gpt2[query], f"{GPT2}, {query}", look)
            for query, look in zip(gpt2, (SKY, ORANGE, GREEN), strict=False)
        ]
        axis = f"{SCALE_AXIS}, {UNSEEN}"
        both.append(Sheet("GPT-2: percentage error", axis, lines, column=PERCENTAGE))
        both.append(Sheet("GPT-2: numbers", axis, lines, column=NUMBERS))
    differs = f"{size.differs} {READING} {said}".strip()
    return Sheets(both, aims, size.seeds, differs, columns=columns, calls=calls)


def _aims(query: str, text: str, models: tuple[str, ...]) -> list[Aim]:
    """Who uses the question, and who is better on larger prices."""
    inside, outside = (f"{query}, {names}" for names in (SEEN, UNSEEN))
    aims: list[Aim] = [
        Shows(
            f"{query}: {model} uses the question in distribution: at most half of the error of prices alone.",
            AtMost(blind_error(task(query, text), 1.0) / 2),
            Place(inside, model, 1.0),
        )
        for model in models
    ]
    return aims + [
        Ratio(
            f"{query}: positional is better than {other} on unseen names and prices up to {c:g} times as high.",
            AtLeast(1),
            *across(outside, "positional", other, c),
        )
        for other in models
        if other != "positional"
        for c in (5.0, 10.0)
    ]


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


@sheets_figure(
    "positional/mixed-type-samples",
    "Prices asked for in text, from fewer samples",
    "Mean squared error of the least of four prices named in a text, over the size of the training set.",
    described("three sizes, three seeds, about 30 minutes on 2 cores"),
)
def mixed_type_samples(scale: str) -> Sheets:
    """Both models from fewer and more samples, on unseen names and prices three times as high."""
    size = SIZES[scale]
    query = "min"
    asked, sizes = task(query, size.text), tuple(map(float, size.samples))
    recipes = {
        model: {m: size.model(f"mixed-{m}", query, model, samples=m) for m in size.samples}
        for model in MIXED_TYPES
    }

    def sheet(title: str, point: str, c: float) -> Sheet:
        lines = [Line.over(recipes[model], model, model, point) for model in MIXED_TYPES]
        unasked = Exact(BLIND, "baseline", sizes, lambda samples: blind_error(asked, c))
        return Sheet(title, "training samples", [*lines, unasked], log_x=True)

    sheets = [
        sheet("in distribution", "validation", 1.0),
        sheet("unseen names, c = 3", "beyond=3", 3.0),
    ]
    many = float(size.samples[-1])
    aims: list[Aim] = [
        Ratio(
            f"positional is better on unseen names and prices up to 3 times as high, from {m} samples.",
            AtLeast(1),
            *across("unseen names, c = 3", "positional", "standard", float(m)),
        )
        for m in size.samples
    ]
    aims.append(
        Ratio(
            "the error of standard in distribution falls with samples.",
            AtLeast(1),
            *along("in distribution", "standard", many, float(size.samples[0])),
        )
    )
    return Sheets(sheets, aims, size.seeds, f"{size.differs} {READING}".strip())


FIGURES = (mixed_type, mixed_type_samples)
