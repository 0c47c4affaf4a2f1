"""Second stage: what must hold before any weight is made.

The trace has already refused what has no exact ReLU network (unknown ranges, products of data, sources that depend on
data); here the protocol is held to the words that its processors have.
"""

import numpy as np

from ordinate.lab.programs.machine import Machine, Traffic
from ordinate.lab.programs.program import Program


def check(program: Program, n: int) -> Traffic:
    """Refuse a protocol that sends or receives too many words; patterns are static, so any one input shows it."""
    word = [float(np.clip(0.0, known.low, known.high)) for known in program.ranges(n)]
    inputs = np.broadcast_to(np.array(word), (1, n, len(word)))
    return Machine(n, max(program.words, len(word))).run(program.function, inputs).traffic
