"""Advice: what kind of memory a task has, measured from samples of its answers, and the model that it wants.

Stages, a module each: which tokens count in each sample (`probe`), whether tokens decide which and how an influence
falls (`evidence`), the kind of memory (`memory`), and what it asks of a model (`advice`). `function` makes a task of a
person's own function.
"""

from ordinate.papers.theory.advice.advice import Line, advise
from ordinate.papers.theory.advice.function import FunctionTask, function_task, load_function
from ordinate.papers.theory.advice.memory import KINDS, Memory, find_memory

__all__ = [
    "KINDS",
    "FunctionTask",
    "Line",
    "Memory",
    "advise",
    "find_memory",
    "function_task",
    "load_function",
]
