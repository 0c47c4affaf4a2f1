"""What stands in the columns of a compiled program and what its heads bring, in words.

Atoms are named in the order of their use: x an input word (x0, x1, ... where there are several), c a constant of the
position, r a received word, u a ReLU, v a value that is kept.
"""

from dataclasses import asdict, dataclass

import numpy as np

from ordinate.lab.programs.compiler.columns import Allocation
from ordinate.lab.programs.compiler.graph import (
    Atom,
    Constant,
    Form,
    Graph,
    Input,
    Kept,
    Pattern,
    Receive,
    Relu,
)

LETTERS: dict[type[Atom], str] = {Constant: "c", Receive: "r", Relu: "u", Kept: "v"}
SHOWN = 6
"""Terms of a form that are written out."""


@dataclass(frozen=True)
class Message:
    """What a head brings, and from where."""

    source: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Labels:
    """The columns of every boundary, and the messages of every layer."""

    columns: tuple[tuple[str, ...], ...]
    messages: tuple[tuple[Message, ...], ...]

    def to_dict(self) -> dict[str, object]:
        """Stable keys for JSON."""
        return asdict(self)


def labels(allocation: Allocation) -> Labels:
    """Words for everything between and inside the layers."""
    graph = allocation.schedule.graph
    names = atom_names(graph)
    boundaries = [*(layer.before for layer in allocation.layers), allocation.layers[-1].after]
    columns = tuple(tuple(write(form, names) for form in boundary.forms) for boundary in boundaries)
    messages = []
    for layer in allocation.layers:
        heads = []
        for head in layer.heads:
            words = tuple(f"{names[a]} = {write(graph.form_of(a), names)}" for a in head.words)
            heads.append(Message(write_pattern(head.pattern), words))
        messages.append(tuple(heads))
    return Labels(columns, tuple(messages))


def atom_names(graph: Graph) -> dict[int, str]:
    """A name for every atom in use."""
    names: dict[int, str] = {}
    counts: dict[str, int] = {}
    for number in graph.used:
        atom = graph.atoms[number]
        if isinstance(atom, Input):
            names[number] = "x" if graph.words == 1 else f"x{atom.word}"
            continue
        letter = LETTERS[type(atom)]
        counts[letter] = counts.get(letter, 0) + 1
        names[number] = f"{letter}{counts[letter]}"
    return names


def write(form: Form, names: dict[int, str]) -> str:
    """A form as a person writes it, long ones cut.

    >>> write(Form(((0, 1.0), (1, -2.0)), 1.0), {0: "x", 1: "r1"})
    'x - 2 r1 + 1'
    """
    parts = [(c, names[a]) for a, c in form.terms[:SHOWN]]
    parts += [(form.constant, "")] if form.constant else []
    text = ""
    for c, name in parts:
        size = "" if name and abs(c) == 1 else f"{abs(c):g}{' ' if name else ''}"
        sign = "-" if c < 0 else "+"
        text += f" {sign} {size}{name}" if text else f"{'-' if c < 0 else ''}{size}{name}"
    more = len(form.terms) - SHOWN
    return f"{text} ... ({more} more)" if more > 0 else text or "0"


def write_pattern(pattern: Pattern) -> str:
    """Where a head looks, as a function of the position i where there is a short one.

    >>> write_pattern(Pattern(np.array([-1, 0, 1]), np.ones(3)))
    'i - 1'
    >>> write_pattern(Pattern(np.array([1, 0, 3, 2]), np.ones(4)))
    'i xor 1'
    """
    place = np.arange(len(pattern.source))
    there = pattern.source >= 0
    if not there.any():
        return "nowhere"
    own = there & (pattern.source == place)
    scaled = ", scaled" if (pattern.weight[there] < 1).any() else ""
    if (own == there).all():
        return f"i{scaled}"
    other = there & ~own
    kept = " or i" if own.any() else ""
    steps = np.unique(pattern.source[other] - place[other])
    if len(steps) == 1:
        return f"i {'-' if steps[0] < 0 else '+'} {abs(steps[0])}{kept}{scaled}"
    flips = np.unique(pattern.source[other] ^ place[other])
    if len(flips) == 1:
        return f"i xor {flips[0]}{kept}{scaled}"
    if len(np.unique(pattern.source[other])) == 1:
        return f"{pattern.source[other][0]}{kept}{scaled}"
    return f"a table{scaled}"
