"""Third stage: which layer computes what.

A layer is x' = W_2 relu(W_1 [x | attention(x)]): attention reads the columns x at its start, its ReLUs read the columns
and what attention has just received. So, with x_b the columns in front of layer b,

    an input or constant     is in x_0,
    a receive in layer b     needs its form in x_b, serves the ReLUs of layer b, and is in x_{b+1} (carried through),
    a ReLU in layer b        needs its form in x_b and the receives of layer b, and is in x_{b+1}.

Everything is computed as early as possible, so the depth is that of the longest chain: a round with one ReLU behind it
costs one layer. Only what is received of constants moves to where it is needed, so that it need not be carried there.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from ordinate.programs.compiler.graph import Constant, Form, Graph, Receive, Relu


@dataclass(frozen=True)
class Schedule:
    """The layer of every ReLU and every receive in use, and the number of layers."""

    graph: Graph
    layer: dict[int, int]
    layers: int

    def stored(self, atom: int) -> int:
        """The first boundary at which an atom can stand in columns."""
        return self.layer[atom] + 1 if atom in self.layer else 0

    def received_in(self, layer: int) -> list[int]:
        """The receives of a layer."""
        return [
            a
            for a in self.graph.used
            if self.layer.get(a) == layer and isinstance(self.graph.atoms[a], Receive)
        ]

    def relus_in(self, layer: int) -> list[int]:
        """The ReLUs of a layer."""
        return [
            a for a in self.graph.used if self.layer.get(a) == layer and isinstance(self.graph.atoms[a], Relu)
        ]

    def stored_part(self, form: Form, boundary: int) -> Form:
        """The terms of a form that stand in the columns of a boundary, without its constant."""
        return Form(tuple((a, c) for a, c in form.terms if self.stored(a) <= boundary))

    @cached_property
    def needed(self) -> list[list[Form]]:
        """The forms that the columns of every boundary must express: the stored parts of all that is used behind it."""
        found: list[dict[Form, None]] = [{} for _ in range(self.layers + 1)]
        uses = [(self.graph.form_of(a), layer) for a, layer in self.layer.items()]
        uses += [(form, self.layers) for form in self.graph.outputs]
        for form, last in uses:
            times = sorted({self.stored(a) for a in form.atoms if self.stored(a) <= last})
            for begin, end in pairwise([*times, last + 1]):
                part = self.stored_part(form, begin)
                for boundary in range(begin, end):
                    found[boundary][part] = None
        return [list(forms) for forms in found]


def schedule(graph: Graph) -> Schedule:
    """Put everything into the earliest layer that it can be in; there is at least one layer."""
    layer: dict[int, int] = {}

    def stored(atom: int) -> int:
        return layer[atom] + 1 if atom in layer else 0

    for number in graph.used:
        atom = graph.atoms[number]
        if isinstance(atom, Receive):
            layer[number] = max((stored(a) for a in atom.form.atoms), default=0)
        elif isinstance(atom, Relu):
            layer[number] = max(
                layer[a] if isinstance(graph.atoms[a], Receive) else stored(a) for a in atom.form.atoms
            )
    ends = [stored(a) for form in graph.outputs for a in form.atoms]
    layers = max([1, *ends])
    return Schedule(graph, {**layer, **_late(graph, layer, layers)}, layers)


def _late(graph: Graph, layer: dict[int, int], layers: int) -> dict[int, int]:
    """The latest layers of receives of constants: that of a ReLU that uses one, or before the receive that does."""
    static = {
        a: layers - 1
        for a in graph.used
        if isinstance(graph.atoms[a], Receive)
        and all(isinstance(graph.atoms[b], Constant) for b in graph.form_of(a).atoms)
    }
    for user in graph.used:
        for a in graph.form_of(user).atoms:
            if a in static:
                static[a] = min(static[a], layer[user] - isinstance(graph.atoms[user], Receive))
    return static
