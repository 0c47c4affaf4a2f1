"""How large each scale of the third paper is: `paper` as far as it is known, `laptop` with short lags for 2 cores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from ordinate.lab.tasks import Task
from ordinate.lab.training import Adam, AdamW, Cosine, Recipe, Training
from ordinate.models import ModelSettings
from ordinate.papers.figure import SMOKE, published
from ordinate.papers.sheets import Column, Scale, stored

SHARE = Column("error / variance of the target", stored("variance_share"))
"""Mean squared error as a share of what the best constant has."""


@dataclass(frozen=True, kw_only=True)
class MemoryScale(Scale):
    """Sequences, lags, and the heads and widths that are compared."""

    length: int
    lags: tuple[int, ...]
    """Of the fixed memories."""
    heads: tuple[int, ...]
    hidden: tuple[int, ...]
    width: int

    @override
    def recipe(
        self,
        name: str,
        task: Task,
        model: ModelSettings,
        axes: Mapping[str, tuple[float, ...]] | None = None,
        **training: Any,
    ) -> Recipe:
        """One model, as wide as all are at this scale."""
        return super().recipe(name, task, model.model_copy(update={"width": self.width}), axes, **training)


SIZES = {
    "smoke": MemoryScale(
        length=12,
        lags=(0, 1, 2),
        heads=(1, 2),
        hidden=(4, 8),
        width=4,
        training=Training(steps=3, batch=8),
        seeds=1,
        count=20,
    ),
    "laptop": MemoryScale(
        length=24,
        lags=(0, 1, 2),
        heads=(1, 2, 4, 8, 16),
        hidden=(4, 16, 64, 256),
        width=16,
        training=Training(
            steps=3000,
            batch=100,
            optimizer=Adam(learning_rate=1e-2, betas=(0.9, 0.99)),
            schedule=Cosine(warmup=0.05),
            clip=1.0,
        ),
        seeds=3,
        count=2000,
        differs="Differs from the published setting: lags 0, 1 and 2 instead of 48, 56 and 99, sequences of 24 tokens "
        "instead of 1000, every token scored instead of one, 3000 steps instead of 10 000. With the published lags no "
        "float64 holds the coefficients that one layer needs; for lags 1, 2 and 4 they are larger than 10^8 already. "
        "Rate, width, slopes at first and type of bias are not published.",
    ),
    "paper": MemoryScale(
        length=1000,
        lags=(48, 56, 99),
        heads=(2, 4, 8, 16, 32, 64),
        hidden=(4, 16, 64, 256),
        width=64,
        training=Training(
            steps=10_000, batch=100, optimizer=AdamW(learning_rate=1e-3), schedule=Cosine(warmup=0.05)
        ),
        seeds=3,
        count=10_000,
        differs="Rate, width, slopes at first and type of bias are not published.",
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


def described(laptop: str, *, paper: bool = True) -> dict[str, str]:
    """The scales of a figure, with what is said of each."""
    return {
        "smoke": SMOKE,
        "laptop": laptop,
        **({"paper": "lags, length and steps as published, for GPUs"} if paper else {}),
    }
