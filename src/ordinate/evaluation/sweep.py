"""Sweeps: a model's errors along an axis of its task, in distribution always beside out of distribution."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, nearest
from ordinate.evaluation.metrics import squared_error, squared_size, target_variance, within_tolerance
from ordinate.seeds import generator
from ordinate.tasks.task import Batch, Task

Model = Callable[[Tensor, Coordinates], Tensor]

MOST_POINTS = 10_000
"""On an axis; more is a slip of the finger."""


@dataclass(frozen=True)
class Axis:
    """An axis of a task and the points on it. `Axis.parse("scale=1:10")` and `"length=2,4,8"` read it from text."""

    name: str
    values: tuple[float, ...]

    @classmethod
    def parse(cls, text: str) -> "Axis":
        """Read `name=first:last[:step]` or `name=v1,v2,...`.

        >>> Axis.parse("scale=1:10:3")
        Axis(name='scale', values=(1.0, 4.0, 7.0, 10.0))
        """
        name, equals, values = text.partition("=")
        try:
            if not (name and equals and values):
                raise ValueError
            if ":" in values:
                first, last, *rest = (float(v) for v in values.split(":"))
                step = rest[0] if rest else 1.0
                if step <= 0 or last < first or len(rest) > 1 or not math.isfinite((last - first) / step):
                    raise ValueError
                if (last - first) / step >= MOST_POINTS:
                    raise OrdinateError(
                        f"axis {text!r} has more than {MOST_POINTS} points: write a larger step"
                    )
                points = tuple(first + i * step for i in range(int((last - first) / step + 1e-9) + 1))
            else:
                points = tuple(float(v) for v in values.split(","))
        except ValueError:
            raise OrdinateError(
                f"axis {text!r} is not understood: write name=first:last[:step] or name=value,value"
            ) from None
        return cls(name, points)


@dataclass(frozen=True)
class Point:
    """What was measured at one value of an axis."""

    axis: str
    value: float
    in_distribution: bool
    lengths: tuple[int, ...]
    count: int
    mse: float
    relative_error: float
    variance_share: float
    accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class TestSet:
    """Samples at one value of an axis: a batch for every length."""

    __test__ = False  # not a test case, whatever a test runner thinks of the name

    axis: str
    value: float
    in_distribution: bool
    batches: dict[int, Batch]


def test_set(task: Task, axis: str, value: float, *, count: int, seed: int) -> TestSet:
    """Draw `count` samples at a value of an axis, the same for the same seed.

    Tasks of variable length are tested on all their lengths evenly, unless the axis is the length.
    """
    if axis not in task.axes:
        raise OrdinateError(f"task {task.name!r} has no axis {axis!r}: {nearest(axis, task.axes)}")
    if axis == "length":
        if value != int(value):
            raise OrdinateError(f"length {value} is not a whole number: write length=4 or length=2:8:2")
        lengths: tuple[int, ...] = (int(value),)
        options: dict[str, float] = {}
        inside = int(value) in task.lengths()
    else:
        lengths, options = task.lengths(), {axis: value}
        inside = value == 1
    each = max(1, count // len(lengths))
    draw = generator(seed, "test", axis, value)
    return TestSet(
        axis,
        value,
        inside,
        {n: task.sample(each, generator=draw, length=n, **options) for n in lengths},
    )


test_set.__test__ = False  # type: ignore[attr-defined]


def measure(
    model: Model,
    task: Task,
    tests: TestSet,
    *,
    relative: float = 0.1,
    absolute: float = 0.1,
    chunk: int = 4096,
) -> tuple[Point, Float[Tensor, " sample"]]:
    """Measure a model on a test set; also return the squared error of every sample."""
    errors, sizes, close, variances = [], [], [], []
    with torch.no_grad():
        for length, batch in tests.batches.items():
            coordinates, scored = task.coordinates(length), task.scored(length)
            for x, y in zip(batch.input.split(chunk), batch.target.split(chunk), strict=True):
                output = _run(model, x, coordinates)
                target = y.to(output.dtype)
                errors.append(squared_error(output, target, scored))
                sizes.append(squared_size(target, scored))
                close.append(within_tolerance(output, target, scored, relative=relative, absolute=absolute))
            variances.append(target_variance(batch.target, scored))
    per_sample = torch.cat(errors)
    mse = float(per_sample.double().mean())
    variance = sum(variances) / len(variances)
    point = Point(
        axis=tests.axis,
        value=tests.value,
        in_distribution=tests.in_distribution,
        lengths=tuple(tests.batches),
        count=len(per_sample),
        mse=mse,
        relative_error=math.sqrt(mse / max(float(torch.cat(sizes).double().mean()), 1e-300)),
        variance_share=mse / variance if variance > 0 else math.nan,
        accuracy=float(torch.cat(close).double().mean()),
    )
    return point, per_sample


def _run(model: Model, x: Tensor, coordinates: Coordinates) -> Tensor:
    if isinstance(model, torch.nn.Module):
        first = next(model.parameters())
        return model(x.to(first.device, first.dtype), coordinates).cpu()  # type: ignore[no-any-return]
    return model(x, coordinates)


def sweep(
    model: Model,
    task: Task,
    axis: str | Axis,
    values: Iterable[float] | None = None,
    *,
    count: int = 1000,
    seed: int = 0,
) -> list[Point]:
    """Measure a model along an axis: `sweep(model, task, "scale", [1, 2, 10])`.

    A model is anything that maps (inputs, coordinates) to outputs.
    """
    if isinstance(axis, str):
        axis = Axis(axis, tuple(values or ())) if values is not None else Axis.parse(axis)
    sets: Sequence[TestSet] = [test_set(task, axis.name, v, count=count, seed=seed) for v in axis.values]
    return [measure(model, task, tests)[0] for tests in sets]
