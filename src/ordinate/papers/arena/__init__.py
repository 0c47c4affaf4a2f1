"""The arena: all encodings on equal terms, over lengths and values that training never shows."""

from ordinate.papers.arena.terms import NoPlaceError, Terms

__all__ = ["NoPlaceError", "Terms"]
