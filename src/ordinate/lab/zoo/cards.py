"""Models of the package: a folder each, with its weights, and a card that says where they come from.

A trained model has its recipe on the card, a compiled one its program. Checkpoints of a training lie beside the last.
"""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.programs.files import MODEL, load
from ordinate.lab.programs.task import task_of
from ordinate.lab.runs import read_json
from ordinate.lab.tasks import Task
from ordinate.lab.training import Recipe, load_model
from ordinate.models import Model

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Card:
    """What is known of a model: how it was made, and how well it does."""

    name: str
    title: str
    summary: str
    command: str
    """What made it, from a checkout of the repository."""
    parameters: int
    sha256: str
    """Of the file of weights."""
    environment: dict[str, Any]
    suite: list[dict[str, Any]] = field(default_factory=list)
    """Scores on the suite of its task (`zoo.suite`), which `ordinate verify` measures again."""
    recipe: dict[str, Any] | None = None
    """Of a trained model."""
    seed: int = 0
    step: int = 0
    averaged: bool = False
    samples_seen: int = 0
    seconds: float = 0.0
    scores: dict[str, float] = field(default_factory=dict)
    """Of the training; one seed, no verdict."""
    checkpoints: dict[str, str] = field(default_factory=dict)
    """Files of weights along the training, each with its SHA-256."""
    program: dict[str, Any] | None = None
    """Of a compiled model: name, processors n, proven error bound, whether its inputs are whole numbers."""

    @property
    def task(self) -> Task:
        """The task that the model was trained on, or that its program answers."""
        if self.program is not None:
            return task_of(self.program["name"], self.program["n"], whole=self.program["whole"])
        assert self.recipe is not None
        return Recipe.parse(self.recipe).task


def names() -> list[str]:
    """The models of the package."""
    return sorted(file.parent.name for file in FOLDER.glob("*/card.json"))


@cache
def load_card(name: str) -> Card:
    """The card of a model.

    >>> load_card("addition-relation").parameters
    125963
    """
    if name not in names():
        raise OrdinateError(f"there is no model {name!r} in the package: {nearest(name, names())}")
    return Card(**read_json(FOLDER / name / "card.json"))


def cards() -> list[Card]:
    """The cards of all models, by name.

    >>> [card.name for card in cards() if card.program is None][:3]
    ['addition-absolute', 'addition-relation', 'multiplication-1']
    """
    return [load_card(name) for name in names()]


def open_model(name: str) -> Model:
    """The model, ready to be called.

    >>> model = open_model("addition-relation")
    >>> sum(p.numel() for p in model.parameters())
    125963
    """
    card = load_card(name)
    folder = FOLDER / card.name
    return load(folder) if card.program is not None else load_model(folder / MODEL)
