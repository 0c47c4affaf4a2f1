"""Columns: the numbers of a run that figures of lines show."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ordinate.lab.runs import Run


@dataclass(frozen=True)
class Column:
    """A number of a run at a point, as a reader calls it; drawn in per cent, or on a logarithmic axis."""

    label: str
    read: Callable[[Run, str], float]
    """Called with runs that ended."""
    percent: bool = False


def stored(field: str) -> Callable[[Run, str], float]:
    """A field of the points that the run stored when it ended."""

    def read(run: Run, point: str) -> float:
        points = run.read_result("evaluation")
        named = {f"{p['axis']}={p['value']:g}": p for p in points} | {"validation": points[0]}
        return float(named[point][field])

    return read


def never(run: Run, point: str) -> float:
    """The column of a sheet whose lines are all computed."""
    raise TypeError(f"{point} of {run.id} is asked of a sheet without runs")


MSE = Column("mean squared error", stored("mse"))
ACCURACY = Column("accuracy", stored("accuracy"), percent=True)
SYMBOLS = Column("symbols right", stored("symbol_accuracy"), percent=True)
ENTROPY = Column("cross-entropy", stored("cross_entropy"))
PERPLEXITY = Column(
    "perplexity of a character", lambda run, point: math.exp(stored("cross_entropy")(run, point))
)
