"""Training: recipes, the loop, ensembles, checkpoints."""

from ordinate.lab.training.checkpoint import load_model
from ordinate.lab.training.initial import starting_from
from ordinate.lab.training.loop import train
from ordinate.lab.training.optimizer import Adam, AdamW, Muon
from ordinate.lab.training.recipe import Evaluation, Initial, Pick, Recipe, Training
from ordinate.lab.training.schedule import Constant, Cosine, Linear, Plateau
from ordinate.lab.training.shipped import find_recipe, shipped

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
    "find_recipe",
    "load_model",
    "shipped",
    "starting_from",
    "train",
]
