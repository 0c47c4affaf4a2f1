"""The zoo: small models that come with the package, trained and compiled, and the verifier of any model file."""

from ordinate.lab.zoo.cards import Card, cards, load_card, open_model
from ordinate.lab.zoo.opened import Opened, Scores, evaluate, find_model, load
from ordinate.lab.zoo.verify import Verified, verify_file

__all__ = [
    "Card",
    "Opened",
    "Scores",
    "Verified",
    "cards",
    "evaluate",
    "find_model",
    "load",
    "load_card",
    "open_model",
    "verify_file",
]
