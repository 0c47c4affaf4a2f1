"""The one table of task names. A new task is a class in the file of its family and a line in `TASKS`."""

from ordinate.kinds import Table, choose
from ordinate.lab.tasks.arithmetic import Addition, Mixed, Multiplication, NoCarry, Several, Subtraction
from ordinate.lab.tasks.automata import NamedMachine, Regular
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.dynamic import EditDistance, Knapsack, Lcs
from ordinate.lab.tasks.graphs import Bfs, Connectivity, ShortestPath, SpanningTree
from ordinate.lab.tasks.hops import KHop
from ordinate.lab.tasks.matching import ContextualCounting, Match2, Match3, SparseAverage
from ordinate.lab.tasks.memories import AdaptiveMemory, DecayingMemory, FixedMemory
from ordinate.lab.tasks.mixed_types import MixedTypes
from ordinate.lab.tasks.numbers import Max, MaxSubarray, Median, Min, MinSum, Sort, Sum
from ordinate.lab.tasks.path import Path
from ordinate.lab.tasks.ring import Ring
from ordinate.lab.tasks.strings import Copy, ModularCounting, Parity, Reverse
from ordinate.lab.tasks.text import NextCharacter

TASKS: Table[Task] = Table(
    Task,  # type: ignore[type-abstract]
    (
        *(Sum, Min, Max, Median, Sort, MaxSubarray, MinSum, Path),
        *(Addition, NoCarry, Subtraction, Several, Multiplication, Mixed),
        *(Ring, KHop, MixedTypes),
        *(EditDistance, Lcs, Knapsack),
        *(Bfs, Connectivity, ShortestPath, SpanningTree),
        *(FixedMemory, AdaptiveMemory, DecayingMemory),
        *(Match2, Match3, SparseAverage, ContextualCounting),
        *(Copy, Reverse, Parity, ModularCounting),
        NextCharacter,
        *(Regular, NamedMachine),
    ),
)


def make_task(name: str, /, **options: object) -> Task:
    """Return the task of this name with these options; bad ones are refused in one line.

    >>> make_task("sum", length=4)
    Sum(length=4, variable=False, low=-2.0, high=2.0, integers=False, integer_tests=None)
    >>> make_task("medain")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: task.name = 'medain' is not known: did you mean 'median'? (of a plug-in: ...)
    >>> make_task("sum", lenght=4)
    Traceback (most recent call last):
    ordinate.errors.OrdinateError: unknown key 'task.lenght': did you mean 'length'?
    """
    return choose({"name": name, **options}, TASKS, "task", "name")
