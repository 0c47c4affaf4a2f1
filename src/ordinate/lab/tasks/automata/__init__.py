"""Tasks as exact machines: regular languages, groups, arithmetic column by column."""

from ordinate.lab.tasks.automata.machine import Machine
from ordinate.lab.tasks.automata.regular import regular

__all__ = ["Machine", "regular"]
