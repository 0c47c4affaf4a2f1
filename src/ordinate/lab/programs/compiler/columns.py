"""Fourth stage: labelled columns between the layers, heads and hidden units inside them.

The columns of a boundary are a basis, with whole coefficients, of the forms that are needed behind it. What a column
holds of older columns and of received words passes through the ReLUs as x = relu(x) - relu(-x), which is exact, or as
relu(x) alone where it cannot be negative.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float

from ordinate.lab.programs.compiler.graph import Form, Key, Pattern, Receive
from ordinate.lab.programs.compiler.schedule import Schedule


@dataclass(frozen=True)
class Columns:
    """Forms that stand in columns, and how every needed form is made of them."""

    forms: tuple[Form, ...]
    made_of: dict[Key, Float[np.ndarray, " column"]]

    def find(self, form: Form) -> Float[np.ndarray, " column"] | None:
        """Whole coefficients of the columns for any form, if there are any."""
        if form.terms in self.made_of or not form.terms:
            return self.express(form)
        atoms = sorted({a for f in (form, *self.forms) for a in f.atoms})
        return _whole_combination(_rows([f.terms for f in self.forms], atoms), _rows([form.terms], atoms)[0])

    def express(self, form: Form) -> Float[np.ndarray, " column"]:
        """Coefficients of the columns; the constant is left out."""
        return self.made_of[form.terms] if form.terms else np.zeros(len(self.forms))


def choose_columns(needed: list[Form]) -> Columns:
    """A basis of the needed forms from which each follows with whole coefficients.

    Forms that share atoms, directly or through others, are looked at together. Where there are as many of them that do
    not depend on each other as there are atoms, the columns are the atoms; elsewhere they are forms, short ones first.

    >>> x, y, z = Form(((0, 1.0),)), Form(((1, 1.0),)), Form(((2, 1.0),))
    >>> columns = choose_columns([x + y, x])
    >>> columns.forms == (x, y), columns.express(x + y).tolist()
    (True, [1.0, 1.0])
    >>> columns = choose_columns([x + y + z, x])
    >>> len(columns.forms), columns.express(x + y + z).tolist()
    (2, [0.0, 1.0])
    """
    parts = [_choose_together(keys) for keys in _together([form.terms for form in needed])]
    forms = tuple(Form(terms) for basis, _ in parts for terms in basis)
    made_of: dict[Key, Float[np.ndarray, " column"]] = {}
    first = 0
    for basis, found in parts:
        for terms, row in found.items():
            made_of[terms] = np.pad(row, (first, len(forms) - first - len(row)))
        first += len(basis)
    return Columns(forms, made_of)


def _together(keys: list[Key]) -> list[list[Key]]:
    """Forms in groups that share no atoms."""
    group: dict[int, list[Key]] = {}
    for terms in dict.fromkeys(keys):
        joined = {id(group[atom]): group[atom] for atom, _ in terms if atom in group}
        whole = [*(key for others in joined.values() for key in others), terms]
        group |= {atom: whole for key in whole for atom, _ in key}
    return list({id(keys): keys for keys in group.values()}.values())


def _choose_together(keys: list[Key]) -> tuple[list[Key], dict[Key, Float[np.ndarray, " column"]]]:
    """Columns for forms that share atoms, and what each form is made of."""
    atoms = sorted({atom for terms in keys for atom, _ in terms})
    rows = dict(zip(keys, _rows(keys, atoms), strict=True))
    basis: list[Key] = []
    found: dict[Key, Float[np.ndarray, " column"]] = {}
    for terms in sorted(rows, key=lambda t: (len(t), t)):
        known = np.array([rows[b] for b in basis]).reshape(len(basis), len(atoms))
        whole = _whole_combination(known, rows[terms])
        if whole is None:
            basis.append(terms)
            whole = np.eye(len(basis))[-1]
        found[terms] = whole
    if len(basis) == len(atoms) and all((row % 1 == 0).all() for row in rows.values()):
        return [((atom, 1.0),) for atom in atoms], rows
    return basis, {terms: np.pad(row, (0, len(basis) - len(row))) for terms, row in found.items()}


def _rows(keys: list[Key], atoms: list[int]) -> Float[np.ndarray, "form atom"]:
    """Coefficients of forms, a column an atom."""
    place = {atom: k for k, atom in enumerate(atoms)}
    rows = np.zeros((len(keys), len(atoms)))
    for row, terms in zip(rows, keys, strict=True):
        for atom, coefficient in terms:
            row[place[atom]] = coefficient
    return rows


def _whole_combination(
    basis: Float[np.ndarray, "column atom"], row: Float[np.ndarray, " atom"]
) -> Float[np.ndarray, " column"] | None:
    """Whole coefficients with coefficients @ basis = row, exactly, if there are any."""
    if not len(basis):
        return None
    found = np.asarray(np.linalg.lstsq(basis.T, row, rcond=None)[0]).round()
    return found if np.array_equal(found @ basis, row) else None


@dataclass(frozen=True)
class Unit:
    """A hidden unit: relu(sign * form)."""

    form: Form
    sign: float = 1.0


@dataclass(frozen=True)
class Head:
    """A head: a pattern, and the words (atoms) that it brings."""

    pattern: Pattern
    words: tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """One layer: the columns in front of it, its heads, its hidden units, and where they lead."""

    before: Columns
    after: Columns
    heads: tuple[Head, ...]
    units: tuple[Unit, ...]
    down: tuple[tuple[int, int, float], ...]
    """(column behind the layer, hidden unit, coefficient)."""
    opened: tuple[Form, ...]
    """Each column behind the layer, in the atoms of this layer."""
    passed: tuple[Form, ...]
    """What each of them has of older columns and of received words."""


@dataclass(frozen=True)
class Allocation:
    """All layers, and the sizes of the model that holds them."""

    schedule: Schedule
    layers: tuple[Layer, ...]
    slots: int
    """Words that one head brings."""

    @cached_property
    def heads(self) -> int:
        """Heads of every layer: those of the busiest one."""
        return max(1, *(len(layer.heads) for layer in self.layers))

    @cached_property
    def columns(self) -> int:
        """The most columns of a boundary."""
        boundaries = [*(layer.before for layer in self.layers), self.layers[-1].after]
        return max(1, *(len(columns.forms) for columns in boundaries))

    @cached_property
    def width(self) -> int:
        """Columns of the model: all heads together are as wide as a token, so it is a multiple of the heads."""
        return self.heads * max(self.slots, -(-self.columns // self.heads))

    @cached_property
    def hidden(self) -> int:
        """Hidden units of every layer: those of the largest one."""
        return max(1, *(len(layer.units) for layer in self.layers))


def allocate(schedule: Schedule) -> Allocation:
    """Choose columns, hidden units and heads for every layer."""
    boundaries = _boundaries(schedule)
    groups = [_patterns(schedule, layer) for layer in range(schedule.layers)]
    slots = _choose_slots([[len(words) for _, words in group] for group in groups], boundaries)
    layers = []
    for number in range(schedule.layers):
        heads = tuple(
            Head(pattern, tuple(words[start : start + slots]))
            for pattern, words in groups[number]
            for start in range(0, len(words), slots)
        )
        opened = tuple(schedule.opened(form, number + 1) for form in boundaries[number + 1].forms)
        units, down, passed = _units(schedule, number, opened)
        layers.append(Layer(boundaries[number], boundaries[number + 1], heads, units, down, opened, passed))
    return Allocation(schedule, tuple(layers), slots)


def _boundaries(schedule: Schedule) -> list[Columns]:
    """The columns of every boundary, from the last to the first.

    They must give what the layer behind them reads, and what the columns behind it are made of.
    """
    found = [choose_columns(_distinct(schedule, schedule.graph.outputs, schedule.layers))]
    for boundary in reversed(range(schedule.layers)):
        read = [schedule.graph.form_of(a) for a in schedule.in_layer[boundary]]
        behind = [schedule.opened(form, boundary + 1) for form in found[-1].forms]
        found.append(choose_columns(_distinct(schedule, [*read, *behind], boundary)))
    return found[::-1]


def _distinct(schedule: Schedule, forms: Sequence[Form], boundary: int) -> list[Form]:
    """The parts of forms that stand in the columns of a boundary."""
    return [part for part in dict.fromkeys(schedule.stored_part(f, boundary) for f in forms) if part.terms]


def _patterns(schedule: Schedule, layer: int) -> list[tuple[Pattern, list[int]]]:
    """The receives of a layer by pattern: words that come the same way share a head."""
    found: dict[bytes, tuple[Pattern, list[int]]] = {}
    for number in schedule.received_in(layer):
        atom = schedule.graph.atoms[number]
        assert isinstance(atom, Receive)
        found.setdefault(atom.pattern.key, (atom.pattern, []))[1].append(number)
    return list(found.values())


def _choose_slots(sizes: list[list[int]], boundaries: list[Columns]) -> int:
    """Words a head brings: those that make the model narrowest, then those with the fewest heads.

    With m words a head, a layer of patterns that bring k_1, k_2, ... words has sum ceil(k_i / m) heads; the model is
    as wide as m times the heads of the busiest layer, and at least as wide as the columns.
    """
    columns = max(len(columns.forms) for columns in boundaries)

    def cost(slots: int) -> tuple[int, int]:
        heads = max([1, *(sum(-(-k // slots) for k in layer) for layer in sizes)])
        return heads * max(slots, -(-columns // heads)), heads

    return min(range(1, max([1, *(k for layer in sizes for k in layer)]) + 1), key=cost)


def _units(
    schedule: Schedule, layer: int, opened: tuple[Form, ...]
) -> tuple[tuple[Unit, ...], tuple[tuple[int, int, float], ...], tuple[Form, ...]]:
    """The hidden units of a layer, how the columns behind it are made of them, and what is only passed on."""
    units: list[Unit] = []
    place: dict[int, int] = {}
    carriers: dict[Unit, int] = {}
    down: list[tuple[int, int, float]] = []
    for number in schedule.relus_in(layer):
        place[number] = len(units)
        units.append(Unit(schedule.graph.form_of(number)))
    every = [Form(tuple((a, c) for a, c in form.terms if a not in place)) for form in opened]
    for column, (form, passed) in enumerate(zip(opened, every, strict=True)):
        down += [(column, place[a], c) for a, c in form.terms if a in place]
        known = schedule.graph.reach(passed)
        for sign, possible in ((1.0, known.high > 0), (-1.0, known.low < 0)):
            if passed.terms and possible:
                unit = Unit(passed, sign)
                if unit not in carriers:
                    carriers[unit] = len(units)
                    units.append(unit)
                down.append((column, carriers[unit], sign))
    return tuple(units), tuple(down), tuple(every)
