"""Verification: reference = machine = weights, on random, boundary and hard inputs.

The reference is the answer by other means, in plain NumPy or Python; the machine interprets the program; the weights
run as the model does. What was proved is beside what was measured.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from ordinate.lab.programs.compiler.bounds import error_bound
from ordinate.lab.programs.compiler.compile import Compiled, compile_program, run
from ordinate.lab.programs.compiler.weights import with_queries_and_keys
from ordinate.lab.programs.machine import Machine
from ordinate.lab.programs.program import Outputs, Program

NUMBERS_AT_ONCE = 1 << 18
"""Numbers of one word that the machine computes at once."""
LONG = 256
"""Up to so many processors many inputs are drawn, beyond it few."""
COUNT, COUNT_LONG = 10_000, 200
DENSE_WEIGHTS = 1 << 24
"""Query and key weights of a model up to which the dense form is compared too."""
DENSE_COUNT = 100
"""Inputs of each kind on which the dense form is compared: it is the same model, and slow."""


@dataclass
class Difference:
    """The largest differences on one kind of inputs."""

    kind: str
    inputs: int = 0
    machine: float = 0.0
    """Machine against reference."""
    weights: float = 0.0
    """Weights against machine."""
    dense: float | None = None
    """Query and key weights against machine, where they fit."""

    def add(
        self,
        wanted: Outputs,
        machine: Outputs,
        weights: Outputs,
        dense: Float[np.ndarray, "first n out"] | None,
    ) -> None:
        """Take more inputs into account; what is not a number counts as infinitely wrong."""
        self.inputs += len(wanted)
        self.machine = max(self.machine, _largest(machine - wanted))
        self.weights = max(self.weights, _largest(weights - machine))
        if dense is not None:
            self.dense = max(self.dense or 0.0, _largest(dense - machine[: len(dense)]))


@dataclass(frozen=True)
class Verification:
    """What was measured and what was proved about a compiled program."""

    compiled: Compiled
    bound: float
    differences: tuple[Difference, ...] = field(default_factory=tuple)

    @property
    def worst(self) -> float:
        """The largest difference between weights and machine."""
        return max(difference.weights for difference in self.differences)

    @property
    def holds(self) -> bool:
        """Whether everything agrees within the proven bound, which queries and keys are held to as well."""
        return all(max(d.machine, d.weights, d.dense or 0.0) <= self.bound for d in self.differences)

    @property
    def lengths(self) -> tuple[int, int]:
        """The numbers of tokens that the model answers: fewer than n only if nobody looks ahead."""
        sources = [head.pattern.source for layer in self.compiled.allocation.layers for head in layer.heads]
        ahead = any((source > np.arange(self.compiled.n)).any() for source in sources)
        return (self.compiled.n if ahead else 1), self.compiled.n

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        program, n = self.compiled.program, self.compiled.n
        return {
            "program": program.name,
            "n": n,
            "holds": self.holds,
            "worst": self.worst,
            "error_bound": self.bound,
            "inputs": [asdict(known) for known in program.ranges(n)],
            "lengths": list(self.lengths),
            "differences": [asdict(difference) for difference in self.differences],
        }


def verify(
    program: Program,
    n: int,
    *,
    count: int | None = None,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
) -> Verification:
    """Compile a program for n processors and compare everything with everything.

    >>> from ordinate.lab.programs.collection import find_program
    >>> found = verify(find_program("prefix-sum"), 8, count=100)
    >>> found.worst, found.bound, found.holds, found.lengths
    (0.0, 0.0, True, (1, 8))
    """
    compiled = compile_program(program, n, dtype)
    generator = np.random.default_rng(seed)
    count = (COUNT if n <= LONG else COUNT_LONG) if count is None else count
    kinds = {
        "random": [program.sample(n, count, generator)],
        "boundary": [program.boundary(n, -(-count // 10), generator)],
        "hard": list(program.hard(n)),
    }
    dense_weights = compiled.costs.layers * compiled.costs.heads * 2 * (n + 1) ** 2
    dense = with_queries_and_keys(compiled.model) if dense_weights <= DENSE_WEIGHTS else None
    found = []
    for kind, batches in kinds.items():
        difference = Difference(kind)
        for batch in batches:
            for part in np.array_split(batch, -(-len(batch) * n // NUMBERS_AT_ONCE)):
                inputs = torch.from_numpy(part).to(dtype).double().numpy()
                machine = Machine(n).run(program.function, inputs).outputs
                first = inputs[: max(0, DENSE_COUNT - difference.inputs)]
                by_dense = (
                    run(dense, first, n, compiled.allocation) if dense is not None and len(first) else None
                )
                difference.add(program.reference(inputs), machine, compiled(inputs), by_dense)
        if difference.inputs:
            found.append(difference)
    return Verification(compiled, error_bound(compiled.allocation, dtype), tuple(found))


def _largest(difference: Outputs) -> float:
    return float(np.nan_to_num(np.abs(difference), nan=np.inf).max())
