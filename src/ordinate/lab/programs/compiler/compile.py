"""The compiler, trace -> graph -> check -> schedule -> columns -> weights, and what programs cost."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float

from ordinate.lab.architectures import ConcatTransformer
from ordinate.lab.programs.compiler.columns import Allocation, allocate
from ordinate.lab.programs.compiler.schedule import schedule
from ordinate.lab.programs.compiler.trace import trace
from ordinate.lab.programs.compiler.weights import build
from ordinate.lab.programs.machine import Machine, Traffic
from ordinate.lab.programs.program import Program, Words
from ordinate.lab.tasks.numbers import number_coordinates

FLOATS_AT_ONCE = 1 << 24
"""Numbers of one layer that are computed at once: larger batches are run in parts."""


@dataclass(frozen=True)
class Costs:
    """What a program costs, beside what the theorem of arXiv 2410.01686 allows for R rounds of s words on N processors.

    The theorem has 2 R ceil(log2 N) layers and 2 s heads, because it routes data-dependent messages through a Benes
    network; a static pattern needs none, and costs one layer and one head a pattern.
    """

    n: int
    rounds: int
    words: int
    layers: int
    layer_bound: int
    heads: int
    head_bound: int
    width: int
    hidden: int

    @classmethod
    def of(cls, traffic: Traffic, allocation: Allocation) -> "Costs":
        """The costs of a plan."""
        return cls(
            n=traffic.n,
            rounds=traffic.rounds,
            words=traffic.most,
            layers=len(allocation.layers),
            layer_bound=2 * traffic.rounds * (traffic.n - 1).bit_length(),
            heads=allocation.heads,
            head_bound=2 * traffic.most,
            width=allocation.width,
            hidden=allocation.hidden,
        )


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program for n processors as a model, with the plan it was built from."""

    program: Program
    n: int
    traffic: Traffic
    allocation: Allocation
    model: ConcatTransformer

    @property
    def costs(self) -> Costs:
        """Rounds and sizes beside the theorem's."""
        return Costs.of(self.traffic, self.allocation)

    def __call__(self, inputs: Words) -> Float[np.ndarray, "batch n out"]:
        """Run the model; inputs outside the stated ranges are refused."""
        self.program.check_inputs(inputs)
        return run(self.model, inputs, self.n, self.allocation)


def run(
    model: ConcatTransformer, inputs: Words, n: int, allocation: Allocation
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


def plan_program(program: Program, n: int) -> tuple[Traffic, Allocation]:
    """Everything but the weights: what a program costs."""
    program.check_length(n)
    graph = trace(program.function, n, program.ranges(n))
    traffic = check(program, n)
    return traffic, allocate(schedule(graph))


def compile_program(program: Program, n: int, dtype: torch.dtype = torch.float32) -> Compiled:
    """Compile a program for n processors.

    >>> from ordinate.lab.programs.language import Range
    >>> from ordinate.lab.programs.program import Program
    >>> def pairs(x):
    ...     return x + x.receive(lambda i: i - 1)
    >>> program = Program("pairs", "sums of neighbours", pairs, (Range(0, 9, whole=True),), lambda x: x)
    >>> compiled = compile_program(program, 4)
    >>> compiled(np.array([[[1.0], [2.0], [3.0], [4.0]]]))[0, :, 0].tolist(), compiled.costs.layers
    ([1.0, 3.0, 5.0, 7.0], 1)
    """
    traffic, allocation = plan_program(program, n)
    return Compiled(program, n, traffic, allocation, build(allocation, dtype))


def check(program: Program, n: int) -> Traffic:
    """Refuse a protocol that sends or receives too many words; patterns are static, so any one input shows it.

    The trace has already refused what has no exact ReLU network: unknown ranges, products of data, sources that depend
    on data.
    """
    word = [float(np.clip(0.0, known.low, known.high)) for known in program.ranges(n)]
    inputs = np.broadcast_to(np.array(word), (1, n, len(word)))
    return Machine(n, max(program.words, len(word))).run(program.function, inputs).traffic


SIZES = tuple(1 << k for k in range(3, 13))
"""Numbers of processors: 8 to 4096."""

Row = dict[str, Any]


def cost_table(
    programs: Sequence[Program],
    sizes: Sequence[int] = SIZES,
    report: Callable[[int, int], None] = lambda done, all_: None,
) -> list[Row]:
    """A row for every program and every number of processors that it runs on.

    `report` is called with the rows done and the rows in all.

    >>> from ordinate.lab.programs.collection import find_program
    >>> [row] = cost_table([find_program("prefix-sum")], [1024])
    >>> row["rounds"], row["layers"], row["layer_bound"]
    (10, 10, 200)
    """
    wanted = [(program, n) for program in programs for n in sizes if program.shortest <= n <= program.longest]
    rows = []
    for done, (program, n) in enumerate(wanted):
        report(done, len(wanted))
        rows.append({"program": program.name, **asdict(Costs.of(*plan_program(program, n)))})
    return rows
