"""The structure of tasks: whether a relation fits one, and which relation nobody declared does."""

from ordinate.lab.structure.check import Finding, check, influence, reach
from ordinate.lab.structure.discovery import discover

__all__ = ["Finding", "check", "discover", "influence", "reach"]
