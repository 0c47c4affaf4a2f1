"""The graph of a program: atoms, and affine forms of atoms.

Everything between two ReLUs is linear, so sums and multiples are never nodes: a value is a form

    constant + sum over atoms of coefficient * atom,

and an atom is an input word, a constant of the position, the ReLU of a form, or a form received from elsewhere. A form
that later ones are made of again and again may be kept as an atom of its own, so that forms stay short.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from ordinate.lab.programs.language.ranges import Line, Range, point

Key = tuple[tuple[int, float], ...]
"""The terms of a form, by atom: what two forms share that differ by a constant."""


@dataclass(frozen=True)
class Form:
    """constant + sum of coefficient * atom; terms are sorted by atom, none is zero.

    >>> Form(((0, 1.0),), 2.0) + Form(((0, -1.0), (3, 4.0)), 1.0) - 5.0
    Form(terms=((3, 4.0),), constant=-2.0)
    """

    terms: Key = ()
    constant: float = 0.0

    def __add__(self, other: "Form | float") -> "Form":
        if not isinstance(other, Form):
            return Form(self.terms, self.constant + other)
        found = dict(self.terms)
        for atom, coefficient in other.terms:
            found[atom] = found.get(atom, 0.0) + coefficient
        terms = tuple(sorted((a, c) for a, c in found.items() if c != 0))
        return Form(terms, self.constant + other.constant)

    def __mul__(self, factor: int | float) -> "Form":
        if factor == 0:
            return Form()
        return Form(tuple((a, c * factor) for a, c in self.terms), self.constant * factor)

    def __sub__(self, other: "Form | float") -> "Form":
        return self + other * -1

    @property
    def atoms(self) -> list[int]:
        """The numbers of its atoms."""
        return [atom for atom, _ in self.terms]

    @property
    def sign(self) -> int:
        """The sign of its first term: facts are kept of forms that begin with a positive one."""
        return -1 if self.terms and self.terms[0][1] < 0 else 1


@dataclass(frozen=True, eq=False)
class Atom:
    """A number in every processor that is no sum of others, with what is known of it and where it was written."""

    range: Range
    line: Line


@dataclass(frozen=True, eq=False)
class Input(Atom):
    """A word of the input."""

    word: int


@dataclass(frozen=True, eq=False)
class Constant(Atom):
    """A number that depends on the position; 0 at the dummy node."""

    values: Float[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Relu(Atom):
    """max(form, 0)."""

    form: Form


@dataclass(frozen=True, eq=False)
class Pattern:
    """Who receives from whom, and with which weight between 0 and 1; -1, and what a weight lacks to 1, is the dummy."""

    source: Int[np.ndarray, " n"]
    weight: Float[np.ndarray, " n"]

    @cached_property
    def key(self) -> bytes:
        """Equal for equal patterns."""
        return self.source.astype(np.int64).tobytes() + self.weight.astype(np.float64).tobytes()


@dataclass(frozen=True, eq=False)
class Receive(Atom):
    """weight * the form at the source; 0 where there is none. The form is 0 at the dummy node."""

    form: Form
    pattern: Pattern


@dataclass(frozen=True, eq=False)
class Kept(Atom):
    """A form that stands in a column of its own: the same number, under one name."""

    form: Form


@dataclass(frozen=True)
class Time:
    """The first layer whose ReLUs can use an atom, and the first boundary at which it can stand in columns.

    A layer's ReLUs see what its attention has just received; its columns see that one boundary later.
    """

    usable: int = 0
    stored: int = 0

    @classmethod
    def of(cls, atom: Atom, known: Sequence["Time"] | Mapping[int, "Time"]) -> "Time":
        """The time of an atom, from those of the atoms that it is computed from."""
        if not isinstance(atom, Receive | Relu | Kept):
            return cls()
        stored = max((known[a].stored for a in atom.form.atoms), default=0)
        if isinstance(atom, Receive):
            return cls(stored, stored + 1)
        if isinstance(atom, Kept):
            return cls(stored, stored)
        usable = max((known[a].usable for a in atom.form.atoms), default=0)
        return cls(usable + 1, usable + 1)


@dataclass(frozen=True)
class Fact:
    """What is known of a form beyond its terms: a range, and forms whose minimum or maximum it is."""

    range: Range
    parents: tuple[Form, ...] = ()


@dataclass(frozen=True)
class Graph:
    """A traced program: atoms in an order in which they can be computed, outputs, facts about forms."""

    n: int
    words: int
    atoms: tuple[Atom, ...]
    outputs: tuple[Form, ...]
    facts: Mapping[Key, Fact]
    at_dummy: tuple[float, ...]
    """The value of every atom at the dummy node, where inputs and constants are 0 and nothing is received."""
    _ranges: dict[Form, Range] = field(default_factory=dict, repr=False)

    def reach(self, form: Form) -> Range:
        """The range of a form at all nodes, the dummy included, which nothing was stated about."""
        return self.range(form).hull(point(dummy_value(form, self.at_dummy)))

    def range(self, form: Form) -> Range:
        """The range of a form: interval arithmetic, and what is known of it as a whole."""
        if form not in self._ranges:
            self._ranges[form] = form_range(form, self.atoms, self.facts)
        return self._ranges[form]

    def parents(self, form: Form) -> tuple[Form, ...]:
        """The forms whose minimum or maximum a form is."""
        fact = self.facts.get((form * form.sign).terms)
        return tuple(parent * form.sign for parent in fact.parents) if fact else ()

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The atoms that an output depends on, in order."""
        found: set[int] = set()
        waiting = [atom for form in self.outputs for atom in form.atoms]
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self.form_of(number).atoms
        return tuple(sorted(found))

    @cached_property
    def at_rest(self) -> bool:
        """Whether every atom in use is 0 at the dummy node."""
        return not any(self.at_dummy[a] for a in self.used)

    def form_of(self, number: int) -> Form:
        """The form that an atom is computed from; the empty one for inputs and constants."""
        atom = self.atoms[number]
        return atom.form if isinstance(atom, Relu | Receive | Kept) else Form()


def dummy_value(form: Form, at_dummy: Sequence[float]) -> float:
    """The value of a form at the dummy node."""
    return form.constant + sum(c * at_dummy[a] for a, c in form.terms)


def form_range(form: Form, atoms: Sequence[Atom], facts: Mapping[Key, Fact]) -> Range:
    """Interval arithmetic over atoms, intersected with the fact about the form. Facts leave constants out."""
    low = high = 0.0
    whole = True
    for atom, coefficient in form.terms:
        known = atoms[atom].range
        ends = (known.low * coefficient, known.high * coefficient)
        low, high = low + min(ends), high + max(ends)
        whole = whole and known.whole and coefficient == round(coefficient)
    total = Range(low, high, whole)
    fact = facts.get((form * form.sign).terms)
    return (total.within(fact.range * form.sign) if fact else total) + point(form.constant)
