"""Tasks as exact machines: regular languages, groups, arithmetic column by column."""

from ordinate.lab.tasks.automata.machine import Machine
from ordinate.lab.tasks.automata.regular import regular
from ordinate.lab.tasks.automata.tasks import MACHINES, Automaton, NamedMachine, Regular

__all__ = ["MACHINES", "Automaton", "Machine", "NamedMachine", "Regular", "regular"]
