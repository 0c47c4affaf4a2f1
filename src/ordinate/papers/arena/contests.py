"""Contests of the arena: tasks, how far beyond training they are measured, and the relation that each can declare."""

from dataclasses import dataclass
from typing import Any

from ordinate.lab.tasks import Task, make_task
from ordinate.papers.beyond.addition import RELATION as SUMS
from ordinate.papers.beyond.multiplication import RELATION as PRODUCTS
from ordinate.relations import Relation, aligned, between, causal, window

FACTORS = (1, 2, 4, 10)
"""Times the trained length, or the trained range of values."""
REVERSED = {"kind": "padded", "reverse": True}
"""Least significant digit first, as Abacus and position coupling write numbers: a causal model can carry."""

ECHO = aligned("letter", "answer") * between(key="letter") * window(0)
PREFIX = causal(by="ordinate")


@dataclass(frozen=True)
class Contest:
    """A task under a name, with the relation that a person would declare for it, or why there is none."""

    name: str
    task: Task
    relation: Relation | None = None
    knowledge: str = ""
    """What a model with the relation knows about the task, or why no relation is declared."""

    @property
    def length(self) -> int:
        """The longest of training."""
        return max(self.task.lengths())

    @property
    def numeric(self) -> bool:
        """Whether answers are numbers, so that there is an axis of values."""
        return "scale" in self.task.axes

    def at(self, axis: str, factor: int) -> float:
        """The value of an axis at `factor` times the trained range."""
        return float(factor * self.length if axis == "length" else factor)


@dataclass(frozen=True)
class Lengths:
    """The longest sequences of training, by kind of task."""

    digits: int
    numbers: int
    letters: int
    bits: int
    hop_letters: int
    hops: int


def contests(lengths: Lengths) -> dict[str, Contest]:
    """The nine contests at these lengths, by name."""
    digits: dict[str, Any] = {
        "digits": lengths.digits,
        "width": lengths.digits + 3,
        "format": REVERSED,
    }
    numbers: dict[str, Any] = {"length": lengths.numbers, "variable": True}
    letters: dict[str, Any] = {"length": lengths.letters, "variable": True}
    bits: dict[str, Any] = {"length": lengths.bits, "variable": True}
    chains = {"kind": "mixture", "of": "chains"}
    echo = (
        "told that the answer at an ordinate is the letter there, and nothing of what is to be done with it"
    )
    prefix = "told that only what stands in front counts; all of it alike, so that there is no class of pairs"
    found = (
        Contest(
            "addition",
            make_task("addition", sampler=chains, **digits),
            SUMS,
            "told that digits are related by significance, at most four places back",
        ),
        Contest(
            "multiplication",
            make_task("multiplication", multiplier=1, **digits),
            PRODUCTS,
            "told that the multiplier acts alike on every place, and digits by significance, four places back",
        ),
        Contest("sort", make_task("sort", **numbers), None, "every answer needs every number"),
        Contest("sum", make_task("sum", **numbers), PREFIX, prefix),
        Contest("copy", make_task("copy", **letters), ECHO, echo),
        Contest("reverse", make_task("reverse", **letters), ECHO, echo),
        Contest("parity", make_task("parity", **bits), PREFIX, prefix),
        Contest("modular-counting", make_task("modular-counting", **bits), PREFIX, prefix),
        Contest(
            "k-hop",
            make_task("k-hop", length=lengths.hop_letters, hops=lengths.hops),
            None,
            "letters decide where to look, and a relation is of places",
        ),
    )
    return {contest.name: contest for contest in found}
