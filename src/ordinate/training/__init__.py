"""Training: recipes, the loop, ensembles, checkpoints."""

from ordinate.training.checkpoint import load_model
from ordinate.training.initial import starting_from
from ordinate.training.loop import train
from ordinate.training.optimizer import Adam, AdamW, Muon
from ordinate.training.recipe import Evaluation, Initial, Pick, Recipe, Training
from ordinate.training.schedule import Constant, Cosine, Linear, Plateau

__all__ = [
    "Adam",
    "AdamW",
    "Constant",
    "Cosine",
    "Evaluation",
    "Initial",
    "Linear",
    "Muon",
    "Pick",
    "Plateau",
    "Recipe",
    "Training",
    "load_model",
    "starting_from",
    "train",
]
