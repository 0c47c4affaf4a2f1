"""What programs cost for growing numbers of processors: counted from the plan, no weights are made."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ordinate.lab.programs.compiler.compile import Costs, plan_program
from ordinate.lab.programs.program import Program

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
    wanted = list(_wanted(programs, sizes))
    rows = []
    for done, (program, n) in enumerate(wanted):
        report(done, len(wanted))
        rows.append({"program": program.name, **asdict(Costs.of(*plan_program(program, n)))})
    return rows


def _wanted(programs: Sequence[Program], sizes: Sequence[int]) -> Iterator[tuple[Program, int]]:
    for program in programs:
        for n in sizes:
            if program.shortest <= n <= program.longest:
                yield program, n
