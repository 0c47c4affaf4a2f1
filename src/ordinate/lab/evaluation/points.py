"""Points: what was measured at one value of an axis, for tasks on numbers and for tasks on symbols."""

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, ClassVar

from ordinate.lab.seeds import generator
from ordinate.lab.tasks import TASKS, Task


@dataclass(frozen=True)
class Point:
    """Where it was measured, on how many samples, and the share of samples with every output right."""

    axis: str
    value: float
    in_distribution: bool
    lengths: tuple[int, ...]
    count: int
    accuracy: float

    metric: ClassVar[str]
    """The column that is the score."""
    lower_is_better: ClassVar[bool]
    columns: ClassVar[dict[str, str]]
    """Headers of a table, and the fields below them."""

    @property
    def score(self) -> float:
        """The one number that stands for the point."""
        return float(getattr(self, self.columns[self.metric]))

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class NumberPoint(Point):
    """Errors of answers that are numbers; accuracy is within a tolerance."""

    mse: float
    relative_error: float
    variance_share: float

    metric: ClassVar[str] = "mean squared error"
    lower_is_better: ClassVar[bool] = True
    columns: ClassVar[dict[str, str]] = {
        "mean squared error": "mse",
        "relative error": "relative_error",
        "share of variance": "variance_share",
        "accuracy": "accuracy",
    }


@dataclass(frozen=True)
class SymbolPoint(Point):
    """Answers that are symbols; accuracy is the exact match of all of them."""

    symbol_accuracy: float
    cross_entropy: float

    metric: ClassVar[str] = "exact match"
    lower_is_better: ClassVar[bool] = False
    columns: ClassVar[dict[str, str]] = {
        "exact match": "accuracy",
        "symbols right": "symbol_accuracy",
        "cross-entropy": "cross_entropy",
    }


def score_of(point: dict[str, Any]) -> float:
    """The score of a stored point.

    >>> score_of({"accuracy": 0.5, "mse": 0.1}), score_of({"accuracy": 0.5})
    (0.1, 0.5)
    """
    return float(point["mse"] if "mse" in point else point["accuracy"])


@lru_cache(maxsize=256)
def metric_of_task(task: Task | str) -> str:
    """What the scores of a task's runs are; "score" for a task that is not known here.

    >>> metric_of_task("sum"), metric_of_task("addition"), metric_of_task("of another library")
    ('mean squared error', 'exact match', 'score')
    """
    if isinstance(task, str):
        if task not in TASKS:
            return "score"
        task = TASKS[task]()
    target = task.sample(1, generator=generator(0, "metric")).target
    return (NumberPoint if target.is_floating_point() else SymbolPoint).metric
