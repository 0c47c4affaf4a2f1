"""Tasks on strings that studies of length generalisation share: copy, reverse, parity, counting modulo a number."""

from ordinate.lab.tasks.strings.counters import ModularCounting, Parity
from ordinate.lab.tasks.strings.echoes import Copy, Reverse

__all__ = ["Copy", "ModularCounting", "Parity", "Reverse"]
