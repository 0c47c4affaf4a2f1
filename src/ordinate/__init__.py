"""Ordinate: positional structure in Transformers."""

__version__ = "0.1.0"
