"""Second stage: what must hold before any weight is made.

The trace has already refused what has no exact ReLU network (unknown ranges, products of data, sources that depend on
data); here the protocol is held to the words that its processors have.
"""

import numpy as np

from ordinate.programs.compiler.graph import Graph
from ordinate.programs.language.refusals import refuse
from ordinate.programs.machine import Machine, Traffic
from ordinate.programs.program import Program


def check(program: Program, graph: Graph) -> Traffic:
    """Refuse a protocol that sends or receives too many words, or computes with numbers that are not finite."""
    for number in graph.used:
        form = graph.form_of(number)
        if not np.isfinite([form.constant, *(c for _, c in form.terms)]).all():
            refuse(
                "a number is not finite: write a finite default, constant or factor", graph.atoms[number].line
            )
    lowest = [np.clip(0.0, known.low, known.high) for known in program.inputs]
    inputs = np.broadcast_to(np.array(lowest), (1, graph.n, len(lowest)))
    return Machine(graph.n, max(program.words, len(lowest))).run(program.function, inputs).traffic
