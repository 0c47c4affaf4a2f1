"""How large each scale of the third paper is: `paper` as far as it is known, `laptop` with short lags for 2 cores."""

from dataclasses import dataclass
from typing import Any

from ordinate.lab.tasks import Task
from ordinate.lab.training import Adam, AdamW, Cosine, Evaluation, Recipe, Training
from ordinate.models import Memory
from ordinate.papers.columns import Column, stored
from ordinate.papers.published import published

SHARE = Column("error / variance of the target", stored("variance_share"))
"""Mean squared error as a share of what the best constant has."""


@dataclass(frozen=True)
class Size:
    """Sequences, heads, widths and training of a scale."""

    length: int
    lags: tuple[int, ...]
    """Of the fixed memories."""
    heads: tuple[int, ...]
    hidden: tuple[int, ...]
    width: int
    training: Training
    seeds: int
    count: int
    differs: str = ""

    def recipe(self, name: str, task: Task, model: Memory, **training: Any) -> Recipe:
        """One model on one target."""
        return Recipe(
            name=name,
            task=task,
            model=model.model_copy(update={"width": self.width}),
            training=self.training.model_copy(update=training),
            evaluation=Evaluation(count=self.count),
        )


SIZES = {
    "smoke": Size(12, (0, 1, 2), (1, 2), (4, 8), 4, Training(steps=3, batch=8), 1, 20),
    "laptop": Size(
        24,
        (0, 1, 2),
        (1, 2, 4, 8, 16),
        (4, 16, 64, 256),
        16,
        Training(
            steps=3000,
            batch=100,
            optimizer=Adam(learning_rate=1e-2, betas=(0.9, 0.99)),
            schedule=Cosine(warmup=0.05),
            clip=1.0,
        ),
        3,
        2000,
        "Differs from the published setting: lags 0, 1 and 2 instead of 48, 56 and 99, sequences of 24 tokens instead "
        "of 1000, every token scored instead of one, 3000 steps instead of 10 000. With the published lags no float64 "
        "holds the coefficients that one layer needs; for lags 1, 2 and 4 they are larger than 10^8 already. Rate, "
        "width, slopes at first and type of bias are not published.",
    ),
    "paper": Size(
        1000,
        (48, 56, 99),
        (2, 4, 8, 16, 32, 64),
        (4, 16, 64, 256),
        64,
        Training(steps=10_000, batch=100, optimizer=AdamW(learning_rate=1e-3), schedule=Cosine(warmup=0.05)),
        3,
        10_000,
        "Rate, width, slopes at first and type of bias are not published.",
    ),
}


def quoted(figure: str) -> str:
    """The published numbers of an experiment, which are all that is known of its tables.

    >>> quoted("exp-2a")[:52]
    'Published: fewest units 0.49, most units 0.002 (Appe'
    """
    known = published("memories")[figure]
    numbers = ", ".join(f"{name} {_listed(value)}" for name, value in known.items() if name != "source")
    return f"Published: {numbers} ({known['source']})."


def _listed(value: float | list[float]) -> str:
    return ", ".join(f"{number:g}" for number in value) if isinstance(value, list) else f"{value:g}"


def described(laptop: str) -> dict[str, str]:
    """The scales of a figure, with what is said of each."""
    return {
        "smoke": "proves the path in seconds; no verdict",
        "laptop": laptop,
        "paper": "lags, length and steps as published, for GPUs",
    }
