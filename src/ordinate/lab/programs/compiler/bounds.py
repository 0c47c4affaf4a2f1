"""How wrong the weights can be: a proof by running error analysis, layer by layer.

With unit roundoff u, a sum of k rounded products differs from the exact one by at most gamma_{k+1} * (sum of absolute
terms), gamma_k = k u / (1 - k u), whatever the order of summation (one more for the rounding of coefficients). Errors
of terms pass through a sum with their coefficients, and through a ReLU unchanged. Three rules make this tight:

  * Whole numbers are exact, and so are their halves: if all terms times their coefficients are multiples of 2^-k, and
    the absolute sum is at most 2^(p-k) (p bits of significand), then every partial sum is a multiple of 2^-k of at
    most 2^(p-k), which the format has. The error is 0.
  * One term with coefficient 1 or -1 is exact, so carrying x = relu(x) - relu(-x) is: one of the two is 0.
  * A minimum, a maximum, a clipped value or a compare-exchange moves by no more than its arguments do, so its error is
    the largest of theirs plus what this layer's own rounding adds, however many ReLUs it was written with.

A dummy node at rest, where every atom is 0, is exact: encoding, values and columns are sums of zeros there, and a ReLU
is the ReLU of a constant that is not positive. Attention by a table of sources copies numbers, and their errors from
node to node; a weight below 1 is a product and a sum with what the dummy holds.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from ordinate.lab.programs.compiler.columns import Allocation, Layer
from ordinate.lab.programs.compiler.graph import Constant, Form, Graph, Receive

FINEST = 24
"""Binary places up to which numbers are looked at: those of float32, the coarsest format in use; so many are any."""


Errors = Float[np.ndarray, " node"]
"""An error for every node: the processors, then the dummy."""


@dataclass(frozen=True)
class Term:
    """A number that a sum is made of: how large it can be, how wrong at every node, of how many binary places."""

    magnitude: float
    error: Errors
    places: int

    @property
    def exact(self) -> bool:
        """Whether it is never wrong."""
        return not self.error.any()


@dataclass(frozen=True)
class Format:
    """A number format: unit roundoff, and the largest whole number below which all whole numbers are there."""

    roundoff: float
    largest_whole: float

    @classmethod
    def of(cls, dtype: torch.dtype) -> "Format":
        """The format of a dtype.

        >>> Format.of(torch.float32).largest_whole
        16777216.0
        """
        return cls(torch.finfo(dtype).eps / 2, 2 / torch.finfo(dtype).eps)

    def gamma(self, k: int) -> float:
        """k u / (1 - k u)."""
        return k * self.roundoff / (1 - k * self.roundoff)

    def rounding(self, terms: Iterable[tuple[float, Term]], constant: float = 0.0) -> float:
        """What computing a sum adds to the error."""
        present = [(c, term) for c, term in terms if c != 0]
        total = sum(abs(c) * (term.magnitude + float(term.error.max())) for c, term in present) + abs(
            constant
        )
        finest = max([binary_places(constant), *(binary_places(c) + term.places for c, term in present)])
        exact = all(term.exact for _, term in present)
        if exact and finest < FINEST and total * 2.0**finest <= self.largest_whole:
            return 0.0
        if len(present) == 1 and abs(present[0][0]) == 1 and constant == 0:
            return 0.0
        return float(self.gamma(len(present) + (constant != 0) + 1) * total)


def binary_places(number: float) -> int:
    """How many binary places a number has behind the point.

    >>> binary_places(3.0), binary_places(-0.5), binary_places(0.1)
    (0, 1, 24)
    """
    denominator = float(number).as_integer_ratio()[1]  # a power of two
    return min(denominator.bit_length() - 1, FINEST)


def error_bound(allocation: Allocation, dtype: torch.dtype) -> float:
    """The largest difference between any output of the model and of the program, for inputs in the stated ranges."""
    number_format, graph = Format.of(dtype), allocation.schedule.graph
    columns = _encoded(allocation, number_format)
    for number, layer in enumerate(allocation.layers):
        columns = _Pass(allocation, layer, number, columns, number_format).after()
    worst = 0.0
    for form in graph.outputs:
        terms = list(zip(allocation.layers[-1].after.express(form), columns, strict=True))
        moved = _moved(terms, graph.n)[: graph.n]
        worst = max(worst, float(moved.max()) + number_format.rounding(terms, form.constant))
    return worst


def _places(form: Form, graph: Graph) -> int:
    """The binary places of a form, from those of its coefficients; any number where an atom is not whole."""
    if graph.reach(form).whole:
        return 0
    if not all(graph.atoms[a].range.whole for a in form.atoms):
        return FINEST
    return max(map(binary_places, (form.constant, *(c for _, c in form.terms))))


def _moved(terms: Iterable[tuple[float, Term]], n: int) -> Errors:
    """What the errors of terms do to their sum."""
    total = np.zeros(n + 1)
    for c, term in terms:
        if c != 0 and not term.exact:
            total += abs(c) * term.error
    return total


def _encoded(allocation: Allocation, number_format: Format) -> list[Term]:
    """The columns of boundary 0: inputs are given in the format, constants are rounded to it."""
    graph = allocation.schedule.graph
    found = []
    for form in allocation.layers[0].before.forms:
        terms = []
        for a, c in form.terms:
            known = graph.atoms[a].range
            rounded = isinstance(graph.atoms[a], Constant) and not known.whole
            error = known.magnitude * number_format.roundoff if rounded else 0.0
            places = 0 if known.whole else FINEST
            terms.append((c, Term(known.magnitude, np.full(graph.n + 1, error), places)))
        moved = _moved(terms, graph.n) + number_format.rounding(terms)
        found.append(Term(graph.reach(form).magnitude, moved, _places(form, graph)))
    return found


class _Pass:
    """The errors of one layer."""

    def __init__(
        self, allocation: Allocation, layer: Layer, number: int, columns: list[Term], number_format: Format
    ) -> None:
        self.graph, self.layer, self.n = allocation.schedule.graph, layer, allocation.schedule.graph.n
        self.columns, self.format = columns, number_format
        self.local: dict[int, float] = {}
        self.new = {word: self._receive(word) for head in layer.heads for word in head.words}
        self.received = frozenset(self.new)
        self.new |= {a: self._relu(a) for a in allocation.schedule.relus_in(number)}

    def _term(self, magnitude: float, error: Errors, places: int) -> Term:
        """A term, without any error at a dummy that is at rest."""
        return Term(magnitude, np.append(error[:-1], 0.0) if self.graph.at_rest else error, places)

    def after(self) -> list[Term]:
        """The columns behind the layer."""
        return [
            self._column(*forms)
            for forms in zip(self.layer.after.forms, self.layer.opened, self.layer.passed, strict=True)
        ]

    def _receive(self, word: int) -> Term:
        atom = self.graph.atoms[word]
        assert isinstance(atom, Receive)
        terms = list(zip(self.layer.before.express(atom.form), self.columns, strict=True))
        own = self.format.rounding(terms, atom.form.constant)
        sent = _moved(terms, self.n) + own
        weight = np.append(atom.pattern.weight, 1.0)
        error = weight * sent[np.append(atom.pattern.source, -1)] + (1 - weight) * sent[-1]
        if (weight < 1).any():
            reach = self.graph.reach(atom.form).magnitude + float(sent.max())
            rounded = self.format.gamma(3) * np.where(weight < 1, weight, 0.0) * reach
            error, own = error + rounded, own + float(rounded.max())
        self.local[word] = own
        return self._term(atom.range.magnitude, error, 0 if atom.range.whole else FINEST)

    def _terms(self, form: Form) -> list[tuple[float, Term]] | None:
        """A form in the middle of the layer: columns, received words and ReLUs; None if columns do not give it."""
        own = self.layer.before.find(Form(tuple((a, c) for a, c in form.terms if a not in self.new)))
        if own is None:
            return None
        return [
            *zip(own, self.columns, strict=True),
            *((c, self.new[a]) for a, c in form.terms if a in self.new),
        ]

    def _relu(self, number: int) -> Term:
        form = self.graph.form_of(number)
        terms = self._terms(form)
        assert terms is not None
        self.local[number] = self.format.rounding(terms, form.constant)
        known = self.graph.reach(form).relu()
        moved = _moved(terms, self.n) + self.local[number]
        return self._term(known.magnitude, moved, _places(form, self.graph))

    def _column(self, form: Form, opened: Form, passed: Form) -> Term:
        known = self.graph.reach(form)
        terms = self._terms(passed)
        assert terms is not None
        own = self.format.rounding(terms)
        through = self.graph.reach(passed).magnitude
        carried = self._term(through, _moved(terms, self.n) + own, _places(passed, self.graph))
        units = [(a, c) for a, c in opened.terms if a in self.new and a not in self.received]
        parts = [(c, self.new[a]) for a, c in units]
        parts += [(1.0, carried)] if passed.terms else []
        last = self.format.rounding(parts)
        error = _moved(parts, self.n) + last
        local = own + last + sum(abs(c) * self._own(a) for a, c in opened.terms)
        error = np.minimum(error, self._by_parents(form) + local)
        return self._term(known.magnitude, error, _places(form, self.graph))

    def _own(self, atom: int) -> float:
        """What this layer's rounding adds to an atom: its own, and for a ReLU that of the words it reads."""
        words = (
            []
            if atom in self.received
            else [(a, c) for a, c in self.graph.form_of(atom).terms if a in self.received]
        )
        return self.local.get(atom, 0.0) + sum(abs(c) * self.local[a] for a, c in words)

    def _by_parents(self, form: Form) -> Errors:
        """The largest error of the arguments of a minimum or maximum, if the form is one and they are at hand."""
        parents = [self._terms(parent) for parent in self.graph.parents(form)]
        found = np.zeros(self.n + 1) if parents else np.full(self.n + 1, math.inf)
        for terms in parents:
            found = np.maximum(found, math.inf if terms is None else _moved(terms, self.n))
        return found
