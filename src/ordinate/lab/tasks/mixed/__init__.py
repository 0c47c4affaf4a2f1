"""Mixed types: text and numbers in one input."""

from ordinate.lab.tasks.mixed.mixed_types import MixedTypes
from ordinate.lab.tasks.mixed.styles import STYLES, Spelled, Style, Words

__all__ = ["STYLES", "MixedTypes", "Spelled", "Style", "Words"]
