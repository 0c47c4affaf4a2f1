"""Tasks as exact machines: regular languages, groups, arithmetic column by column."""

from ordinate.lab.tasks.automata.machine import Machine

__all__ = ["Machine"]
