"""Models of the package: a folder each, with its weights, its recipe and a card that says where they come from."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError, nearest
from ordinate.models import Model
from ordinate.runs import read_json
from ordinate.tasks import Task
from ordinate.training import Recipe, load_model

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Card:
    """What is known of a model: how it was made, and how well it does."""

    name: str
    title: str
    summary: str
    command: str
    """The training, from a checkout of the repository."""
    recipe: dict[str, Any]
    seed: int
    step: int
    averaged: bool
    parameters: int
    samples_seen: int
    seconds: float
    scores: dict[str, float]
    """One seed, no verdict."""
    sha256: str
    """Of the file of weights."""
    environment: dict[str, Any]

    @property
    def task(self) -> Task:
        """The task that the model was trained on."""
        return Recipe.parse(self.recipe).task


@cache
def load_card(name: str) -> Card:
    """The card of a model.

    >>> load_card("addition-relation").parameters
    125963
    """
    known = sorted(file.parent.name for file in FOLDER.glob("*/card.json"))
    if name not in known:
        raise OrdinateError(f"there is no model {name!r} in the package: {nearest(name, known)}")
    return Card(**read_json(FOLDER / name / "card.json"))


def cards() -> list[Card]:
    """The cards of all models, by name.

    >>> tuple(card.name for card in cards())
    ('addition-absolute', 'addition-relation')
    """
    return [load_card(file.parent.name) for file in sorted(FOLDER.glob("*/card.json"))]


def open_model(name: str) -> Model:
    """The model, ready to be called.

    >>> model = open_model("addition-relation")
    >>> sum(p.numel() for p in model.parameters())
    125963
    """
    return load_model(FOLDER / load_card(name).name / "model.safetensors")
