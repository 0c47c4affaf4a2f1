"""Samples to be read: inputs of a task with their exact answers, drawn or typed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from ordinate.lab.seeds import generator
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch


@dataclass(frozen=True)
class Samples:
    """Samples of a task at one length and at these values of its axes.

    >>> from ordinate.lab.tasks import make_task
    >>> answered(make_task("addition"), "12+39").rows[0]["target"]
    '51'
    """

    task: Task
    batch: Batch
    length: int
    seed: int = 0
    at: Mapping[str, float] = field(default_factory=dict)

    @property
    def rows(self) -> list[dict[str, str]]:
        """A row a sample, columns in reading order, as a person would write them."""
        return self.task.at(**self.at).show(self.batch)

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        facts: dict[str, Any] = {
            "task": self.task.name,
            "length": self.length,
            "count": len(self.batch.input),
        }
        facts |= (
            {"scale": self.at.get("scale", 1.0)} if "scale" in self.task.axes else {"axes": dict(self.at)}
        )
        if self.batch.input.is_floating_point() and self.batch.target.is_floating_point():
            pairs = zip(self.batch.input, self.batch.target, strict=True)
            samples = [{"input": _numbers(x), "target": _numbers(y)} for x, y in pairs]
        else:
            samples = [{key: row[key] for key in ("input", "target")} for row in self.rows]
        return {**facts, "seed": self.seed, "samples": samples}


def drawn(
    task: Task, count: int, *, length: int | None = None, seed: int = 0, **axes: float | int
) -> Samples:
    """Draw samples."""
    length = max(task.lengths()) if length is None else length
    at = {axis: float(value) for axis, value in axes.items()}
    batch = task.sample(count, generator=generator(seed, "sample"), length=length, **at)
    return Samples(task, batch, length, seed, at)


def answered(task: Task, text: str) -> Samples:
    """Read one input as `show` writes it, and answer it."""
    batch, length = task.parse(text), max(task.lengths())
    if batch.coordinates != task.coordinates(length):
        length = task.length_of(batch.coordinates)
    return Samples(task, batch, length)


def _numbers(tokens: Tensor) -> Any:
    """One number a token where tokens are one wide, else one list a token."""
    return (tokens[:, 0] if tokens.shape[-1] == 1 else tokens).tolist()
