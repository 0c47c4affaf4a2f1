"""The zoo: small trained models that come with the package. `tools/make_zoo.py` makes them from runs."""

from ordinate.zoo.cards import Card, cards, load_card, open_model

__all__ = ["Card", "cards", "load_card", "open_model"]
