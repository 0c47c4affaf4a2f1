"""Training: recipes, the loop, ensembles, checkpoints."""

from ordinate.lab.training.checkpoint import load_model
from ordinate.lab.training.initial import starting_from
from ordinate.lab.training.loop import train
from ordinate.lab.training.optimizer import Adam, AdamW, Muon
from ordinate.lab.training.recipe import Evaluation, Initial, Pick, Recipe, Training
from ordinate.lab.training.schedule import Constant, Cosine, Linear, Plateau

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
