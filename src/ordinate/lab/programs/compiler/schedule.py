"""Third stage: which layer computes what.

A layer is x' = W_2 relu(W_1 [x | attention(x)]): attention reads the columns x at its start, its ReLUs read the columns
and what attention has just received. So, with x_b the columns in front of layer b,

    an input or constant     is in x_0,
    a receive in layer b     needs its form in x_b, serves the ReLUs of layer b, and is in x_{b+1} (carried through),
    a ReLU in layer b        needs its form in x_b and the receives of layer b, and is in x_{b+1},
    a kept form              is in x_b as soon as all its atoms are.

Everything is computed as early as possible, so the depth is that of the longest chain: a round with one ReLU behind it
costs one layer. Only what is received of constants moves to where it is needed, so that it need not be carried there.
"""

from dataclasses import dataclass
from functools import cached_property

from ordinate.lab.programs.compiler.graph import Constant, Form, Graph, Kept, Receive, Relu, Time


@dataclass(frozen=True)
class Schedule:
    """The layer of every ReLU and every receive in use, where every atom is first stored, and the number of layers."""

    graph: Graph
    layer: dict[int, int]
    first: dict[int, int]
    """The first boundary at which an atom can stand in columns."""
    layers: int

    @cached_property
    def in_layer(self) -> list[list[int]]:
        """ReLUs and receives of every layer, in order."""
        found: list[list[int]] = [[] for _ in range(self.layers)]
        for atom in self.graph.used:
            if atom in self.layer:
                found[self.layer[atom]].append(atom)
        return found

    def received_in(self, layer: int) -> list[int]:
        """The receives of a layer."""
        return [a for a in self.in_layer[layer] if isinstance(self.graph.atoms[a], Receive)]

    def relus_in(self, layer: int) -> list[int]:
        """The ReLUs of a layer."""
        return [a for a in self.in_layer[layer] if isinstance(self.graph.atoms[a], Relu)]

    def stored_part(self, form: Form, boundary: int) -> Form:
        """The terms of a form that stand in the columns of a boundary, without its constant."""
        return Form(tuple((a, c) for a, c in form.terms if self.first[a] <= boundary))

    def opened(self, form: Form, boundary: int) -> Form:
        """A form in the atoms of the layer in front of a boundary: what is first kept there is written out."""
        new = [(a, c) for a, c in form.terms if self.first[a] == boundary and self._is_kept(a)]
        if not new:
            return form
        rest = Form(tuple((a, c) for a, c in form.terms if (a, c) not in new), form.constant)
        for a, c in new:
            rest = rest + self.opened(self.graph.form_of(a), boundary) * c
        return rest

    def _is_kept(self, atom: int) -> bool:
        return isinstance(self.graph.atoms[atom], Kept)


def schedule(graph: Graph) -> Schedule:
    """Put everything into the earliest layer that it can be in; there is at least one layer."""
    times: dict[int, Time] = {}
    for number in graph.used:
        times[number] = Time.of(graph.atoms[number], times)
    first = {a: time.stored for a, time in times.items()}
    layer = {a: at - 1 for a, at in first.items() if isinstance(graph.atoms[a], Receive | Relu)}
    layers = max([1, *(first[a] for form in graph.outputs for a in form.atoms)])
    late = _late(graph, layer, first, layers)
    return Schedule(graph, {**layer, **late}, {**first, **{a: at + 1 for a, at in late.items()}}, layers)


def _late(graph: Graph, layer: dict[int, int], first: dict[int, int], layers: int) -> dict[int, int]:
    """The latest layers of receives of constants: that of a ReLU that uses one, or before what else does."""
    static = {
        a: layers - 1
        for a in graph.used
        if isinstance(graph.atoms[a], Receive)
        and all(isinstance(graph.atoms[b], Constant) for b in graph.form_of(a).atoms)
    }
    for user in graph.used:
        before = layer[user] - isinstance(graph.atoms[user], Receive) if user in layer else first[user] - 1
        for a in graph.form_of(user).atoms:
            if a in static:
                static[a] = min(static[a], before)
    return static
