"""Training: recipes, the loop, ensembles, checkpoints."""

from ordinate.training.checkpoint import load_model
from ordinate.training.loop import train
from ordinate.training.optimizer import Adam, AdamW
from ordinate.training.recipe import Evaluation, Pick, Recipe, Training
from ordinate.training.schedule import Constant, Cosine, Linear, Plateau

__all__ = [
    "Adam",
    "AdamW",
    "Constant",
    "Cosine",
    "Evaluation",
    "Linear",
    "Pick",
    "Plateau",
    "Recipe",
    "Training",
    "load_model",
    "train",
]
