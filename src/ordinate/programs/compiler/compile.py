"""The compiler: trace -> graph -> checks -> schedule -> columns -> weights."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from ordinate.models import Transformer
from ordinate.programs.compiler.checks import check
from ordinate.programs.compiler.columns import Allocation, allocate
from ordinate.programs.compiler.schedule import schedule
from ordinate.programs.compiler.trace import trace
from ordinate.programs.compiler.weights import build
from ordinate.programs.machine import Traffic
from ordinate.programs.program import Program, Words
from ordinate.tasks.numbers.base import number_coordinates

FLOATS_AT_ONCE = 1 << 22
"""Numbers of one layer that are computed at once: larger batches are run in parts."""


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program for n processors as a model, with the plan it was built from."""

    program: Program
    n: int
    traffic: Traffic
    allocation: Allocation
    model: Transformer

    @property
    def layers(self) -> int:
        """Depth of the model."""
        return len(self.allocation.layers)

    @property
    def bound(self) -> int:
        """Layers that the theorem of arXiv 2410.01686 allows: 2 R ceil(log2 N)."""
        return 2 * self.traffic.rounds * max(1, (self.n - 1).bit_length())

    def __call__(self, inputs: Words) -> Float[np.ndarray, "batch n out"]:
        """Run the model; inputs outside the stated ranges are refused."""
        self.program.check_inputs(inputs)
        return run(self.model, inputs, self.n, self.allocation)


def run(
    model: Transformer, inputs: Words, n: int, allocation: Allocation
) -> Float[np.ndarray, "batch n out"]:
    """The outputs of a model for a program's inputs, in parts that fit the memory."""
    dtype = model.encode.weight.dtype
    at_once = max(1, FLOATS_AT_ONCE // ((n + 1) * (2 * allocation.width + allocation.hidden)))
    coordinates = number_coordinates(n)
    with torch.no_grad():
        parts = [
            model(torch.from_numpy(part).to(dtype), coordinates)
            for part in np.array_split(inputs, -(-len(inputs) // at_once))
        ]
    found: Float[np.ndarray, "batch n out"] = torch.cat(parts).double().numpy()
    return found


def compile_program(program: Program, n: int, dtype: torch.dtype = torch.float32) -> Compiled:
    """Compile a program for n processors.

    >>> from ordinate.programs.language import Range
    >>> from ordinate.programs.program import Program
    >>> def pairs(x):
    ...     return x + x.receive(lambda i: i - 1)
    >>> program = Program("pairs", "sums of neighbours", pairs, (Range(0, 9, whole=True),), lambda x: x)
    >>> compiled = compile_program(program, 4)
    >>> compiled(np.array([[[1.0], [2.0], [3.0], [4.0]]]))[0, :, 0].tolist(), compiled.layers
    ([1.0, 3.0, 5.0, 7.0], 1)
    """
    program.check_length(n)
    graph = trace(program.function, n, program.inputs)
    traffic = check(program, graph)
    allocation = allocate(schedule(graph))
    return Compiled(program, n, traffic, allocation, build(allocation, dtype))
