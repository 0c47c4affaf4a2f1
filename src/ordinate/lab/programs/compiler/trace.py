"""First stage: run the program on symbols and write down what it does.

Every primitive becomes affine forms and ReLUs here, exactly:

    min(a, b)      = a - relu(a - b)                          max(a, b) = a + relu(b - a)
    clip(a, l, h)  = l + relu(a - l) - relu(a - h)
    [d > 0]        = relu(d) - relu(d - 1)                    d whole
    [d = 0]        = relu(d + 1) - 2 relu(d) + relu(d - 1)    d whole
    select(c, a, b)= b + relu(d + M c - M) - relu(-d + M c - M)    d = a - b, |d| <= M, c in {0, 1}
    table[x]       = t_0 + s_0 x + sum_k (s_k - s_{k-1}) relu(x - k)    s_k = t_{k+1} - t_k, x whole, x >= 0
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from typing_extensions import override

from ordinate.lab.programs.compiler.graph import (
    Atom,
    Constant,
    Fact,
    Form,
    Graph,
    Input,
    Kept,
    Key,
    Pattern,
    Receive,
    Relu,
    Time,
    dummy_value,
    form_range,
)
from ordinate.lab.programs.language.ranges import FLAG, Range, point, refuse, user_line
from ordinate.lab.programs.language.value import Number, Value
from ordinate.lab.programs.machine import Function, as_tuple


class Tape:
    """The atoms written down so far; equal ones are written once."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.atoms: list[Atom] = []
        self.facts: dict[Key, Fact] = {}
        self.at_dummy: list[float] = []
        self.times: list[Time] = []
        self._known: dict[object, int] = {}

    def atom(self, key: object, atom: Atom, at_dummy: float) -> Form:
        """The form of one atom; an atom of the same key is taken instead where there is one."""
        if key not in self._known:
            self._known[key] = len(self.atoms)
            self.atoms.append(atom)
            self.at_dummy.append(at_dummy)
            self.times.append(Time.of(atom, self.times))
        return Form(((self._known[key], 1.0),))

    def range(self, form: Form) -> Range:
        """What is known of the values of a form."""
        return form_range(form, self.atoms, self.facts)

    def state(self, form: Form, stated: Range, *parents: Form) -> None:
        """Write down a fact about a form."""
        without = (stated + point(-form.constant)) * form.sign
        key = (form * form.sign).terms
        known = self.facts.get(key, Fact(Range()))
        self.facts[key] = Fact(
            without.within(known.range), tuple(p * form.sign for p in parents) or known.parents
        )

    def combine(self, first: Form, factor: int | float, second: Form, second_factor: int | float) -> Form:
        """factor * first + second_factor * second; what is known of the two as wholes is kept."""
        form = first * factor + second * second_factor
        self.state(form, self.range(first) * factor + self.range(second) * second_factor)
        return form

    def difference(self, first: Form, second: Form) -> Form:
        """relu(first - second)."""
        return self.relu(self.combine(first, 1, second, -1))

    def relu(self, form: Form) -> Form:
        """relu(form), or what it is equal to where the sign is known."""
        known = self.range(form)
        if known.low >= 0:
            return form
        if known.high <= 0:
            return Form()
        return self.atom(
            ("relu", form), Relu(known.relu(), user_line(), form), max(dummy_value(form, self.at_dummy), 0.0)
        )

    def keep(self, form: Form) -> Form:
        """A form as one atom, unless it is one already, or ReLUs would have to wait for it to stand in a column."""
        times = [self.times[a] for a in form.atoms]
        stored = max((time.stored for time in times), default=0)
        if len(times) < 2 or stored == 0 or max(time.usable for time in times) < stored:
            return form
        whole = Form(form.terms)
        kept = Kept(self.range(whole), user_line(), whole)
        return self.atom(("kept", whole), kept, dummy_value(whole, self.at_dummy)) + form.constant

    def constant(self, values: Float[np.ndarray, " n"]) -> Form:
        """A constant of the position."""
        known = Range(float(values.min()), float(values.max()), bool((values == np.round(values)).all()))
        return self.atom(("constant", values.tobytes()), Constant(known, user_line(), values), 0.0)

    def receive(self, form: Form, pattern: Pattern) -> Form:
        """weight * form at the source, 0 where there is none.

        The dummy node stands for "nothing", so what is sent must be 0 there. Where the form is d at the dummy,
        form - d + d * one is sent instead, with `one` the constant 1 (and 0 at the dummy).
        """
        known = self.range(form)
        offset = dummy_value(form, self.at_dummy)
        if offset:
            form = form + self.constant(np.ones(self.n)) * offset - offset
        partly = (pattern.source < 0).any() or (pattern.weight < 1).any()
        whole = Range(known.low, known.high, known.whole and bool((pattern.weight % 1 == 0).all()))
        got = whole.hull(point(0)) if partly else whole
        return self.atom(("receive", form, pattern.key), Receive(got, user_line(), form, pattern), 0.0)


class Traced(Value):
    """A value as a form over the atoms of a tape."""

    def __init__(self, tape: Tape, form: Form) -> None:
        self.tape, self.form, self.n = tape, form, tape.n

    @property
    def range(self) -> Range:
        """What is known of its values."""
        return self.tape.range(self.form)

    def _with(self, form: Form) -> "Traced":
        return Traced(self.tape, form)

    def _stated(self, form: Form, stated: Range, *parents: Form) -> "Traced":
        self.tape.state(form, stated, *parents)
        return self._with(form)

    def _kept(self, form: Form, stated: Range, *parents: Form) -> "Traced":
        """The same for what later forms are made of: it is kept as an atom."""
        self.tape.state(form, stated, *parents)
        return self._stated(self.tape.keep(form), stated, *parents)

    def _affine(
        self, factor: int | float, other: Value | None, other_factor: int | float, constant: int | float
    ) -> "Traced":
        added = Form() if other is None else _form(other)
        return self._with(self.tape.combine(self.form, factor, added, other_factor) + float(constant))

    @override
    def relu(self) -> "Traced":
        return self._with(self.tape.relu(self.form))

    @override
    def minimum(self, other: Value) -> "Traced":
        a, b = self.form, _form(self._fits(other))
        one, two = self.range, self.tape.range(b)
        known = Range(min(one.low, two.low), min(one.high, two.high), one.whole and two.whole)
        return self._kept(a - self.tape.difference(a, b), known, a, b)

    @override
    def maximum(self, other: Value) -> "Traced":
        a, b = self.form, _form(self._fits(other))
        one, two = self.range, self.tape.range(b)
        known = Range(max(one.low, two.low), max(one.high, two.high), one.whole and two.whole)
        return self._kept(a + self.tape.difference(b, a), known, a, b)

    @override
    def clip(self, low: Number, high: Number) -> "Traced":
        if not low <= high:
            refuse(f"clip to [{low:g}, {high:g}]: write the smaller bound first")
        bottom, top = float(low), float(high)
        form = self.tape.relu(self.form - bottom) - self.tape.relu(self.form - top) + bottom
        known = self.range
        bottom_end, top_end = (float(np.clip(end, low, high)) for end in (known.low, known.high))
        whole = known.whole and point(bottom).whole and point(top).whole
        return self._kept(form, Range(bottom_end, top_end, whole), self.form)

    @override
    def exchange(self, low: Value, high: Value) -> "Traced":
        """x - relu(x - low) + relu(high - x): one of the two ReLUs is 0, so that this is a minimum or a maximum."""
        a, b, c = self.form, _form(self._fits(low)), _form(self._fits(high))
        known = self.range.hull(self.tape.range(b)).hull(self.tape.range(c))
        return self._kept(a - self.tape.difference(a, b) + self.tape.difference(c, a), known, a, b, c)

    @override
    def lookup(self, table: Sequence[Number], first: int = 0) -> "Traced":
        known = self._whole("lookup")
        covered = Range(first, first + len(table) - 1, whole=True)
        if not covered.holds(known):
            refuse(f"the table covers {covered}, but the value may be {known}: give it more entries")
        low, high = int(known.low), int(known.high)
        entries = np.array(table, dtype=np.float64)[low - first : high - first + 1]
        slopes = np.diff(entries)
        form = Form((), float(entries[0]))
        for k in np.flatnonzero(np.diff(slopes, prepend=0.0)):
            bend = float(slopes[k] - (slopes[k - 1] if k else 0.0))
            form = form + self.tape.relu(self.form - float(low + k)) * bend
        whole = bool((entries == np.round(entries)).all())
        return self._stated(form, Range(float(entries.min()), float(entries.max()), whole))

    @override
    def select(self, yes: Value, no: Value) -> "Traced":
        if not FLAG.holds(self.range):
            refuse(f"select on a condition whose range is {self.range}: write a comparison, or 0 and 1")
        a, b = _form(self._fits(yes)), _form(self._fits(no))
        difference = self.tape.combine(a, 1, b, -1)
        known = self.tape.range(difference)
        if not known.known:
            refuse("select between values whose range is unknown: state it with x.within(Range(low, high))")
        gate = self.form * known.magnitude - known.magnitude
        up, down = (self.tape.relu(self.tape.combine(difference, sign, gate, 1)) for sign in (1, -1))
        form = b + up - down
        return self._kept(form, self.tape.range(a).hull(self.tape.range(b)))

    @override
    def either(self, other: Value) -> "Traced":
        """a + b, in the range of the one that is not 0."""
        b = _form(self._fits(other))
        return self._stated(self.form + b, self.range.hull(self.tape.range(b)).hull(point(0)))

    @override
    def within(self, stated: Range) -> "Traced":
        known = self.range
        if stated.high < known.low or known.high < stated.low:
            refuse(f"the stated range is {stated}, but the value is in {known}: state a range that holds")
        return self._stated(self.form, stated)

    def _positive(self) -> "Traced":
        self._whole("comparison")
        form = self.tape.relu(self.form) - self.tape.relu(self.form - 1.0)
        return self._stated(form, FLAG)

    def _zero(self) -> "Traced":
        self._whole("comparison")
        up, down = (self.tape.relu(self.form + step) for step in (1.0, -1.0))
        return self._stated(up - self.tape.relu(self.form) * 2 + down, FLAG)

    def _whole(self, what: str) -> Range:
        """The range, for what works on a known range of whole numbers only."""
        known = self.range
        if not known.known or not known.whole:
            kind = "unknown" if not known.known else f"{known}, not of whole numbers"
            refuse(
                f"{what} of a value whose range is {kind}: state it, x.within(Range(low, high, whole=True))"
            )
        return known

    def _constant(self, values: Float[np.ndarray, " n"]) -> "Traced":
        return self._with(self.tape.constant(values))

    def _scaled(self, factors: Float[np.ndarray, " n"]) -> "Traced":
        """w x from attention weights: w+ on oneself and the rest on the dummy, minus the same with w-."""
        here = np.arange(self.n)
        form = Form()
        for sign, part in ((1, np.maximum(factors, 0)), (-1, np.maximum(-factors, 0))):
            if part.any():
                source = np.where(part > 0, here, -1)
                pattern = Pattern(source, np.where(part > 0, part, 1.0))
                form = form + self.tape.receive(self.form, pattern) * sign
        reach = self.range.magnitude
        return self._stated(form, Range(-reach, reach, self.range.whole and bool((factors % 1 == 0).all())))

    def _receive(self, source: Int[np.ndarray, " n"], default: float) -> "Traced":
        pattern = Pattern(source, np.ones(self.n))
        form = self.tape.receive(self.form, pattern)
        missing = bool((source < 0).any())
        if missing and default:
            has = self.tape.receive(self.tape.constant(np.ones(self.n)), pattern)
            form = form - has * default + default
        known = self.range.hull(point(default)) if missing else self.range
        return self._stated(form, known)


def _form(value: Value) -> Form:
    assert isinstance(value, Traced)
    return value.form


def trace(function: Function, n: int, inputs: Sequence[Range]) -> Graph:
    """Run the program for n processors on symbols, with what is known of its inputs."""
    tape = Tape(n)
    line = user_line()
    given = [
        Traced(tape, tape.atom(("input", word), Input(known, line, word), 0.0))
        for word, known in enumerate(inputs)
    ]
    outputs = tuple(_form(value) for value in as_tuple(function(*given)))
    return Graph(n, len(inputs), tuple(tape.atoms), outputs, tape.facts, tuple(tape.at_dummy))
