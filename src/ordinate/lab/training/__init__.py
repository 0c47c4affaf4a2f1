"""Training: recipes, the loop, ensembles, checkpoints."""

from ordinate.lab.training.loop import train
from ordinate.lab.training.optimizer import Adam, AdamW, Constant, Cosine, Linear, Muon, Plateau
from ordinate.lab.training.recipe import Evaluation, Initial, Pick, Recipe, Training
from ordinate.lab.training.shipped import find_recipe, shipped
from ordinate.lab.training.weights import load_model, starting_from

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
