"""Sweeps: a model's errors along an axis of its task, in distribution always beside out of distribution."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError, nearest
from ordinate.lab.evaluation.metrics import (
    squared_error,
    squared_size,
    symbol_entropy,
    symbols_right,
    target_variance,
    within_tolerance,
)
from ordinate.lab.evaluation.points import NumberPoint, Point, SymbolPoint
from ordinate.lab.seeds import generator
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch

Model = Callable[[Tensor, Coordinates], Tensor]

MOST_POINTS = 10_000
"""On an axis; more is a slip of the finger."""

TOKENS_AT_ONCE = 2**16
"""Tokens that a model is given in one call of an evaluation: it bounds the memory at any length."""


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
class TestSet:
    """Samples at one value of an axis, in batches of one layout each."""

    __test__ = False  # not a test case, whatever a test runner thinks of the name

    axis: str
    value: float
    in_distribution: bool
    lengths: tuple[int, ...]
    batches: tuple[Batch, ...]

    def at(self, task: Task) -> Task:
        """The task at this value."""
        return task if self.axis == "length" else task.at(**{self.axis: self.value})


def trained_point(task: Task) -> tuple[str, float]:
    """The axis and the value at which a task is as in training: the validation set.

    >>> from ordinate.lab.tasks import make_task
    >>> trained_point(make_task("sum")), trained_point(make_task("addition")), trained_point(make_task("ring"))
    (('scale', 1.0), ('length', 5.0), ('filled', 10.0))
    """
    if "scale" in task.axes:
        return "scale", 1.0
    if "length" in task.axes:
        return "length", float(max(task.lengths()))
    axis = next(axis for axis in task.axes if hasattr(task, axis))
    return axis, float(getattr(task, axis))


def test_set(
    task: Task,
    axis: str,
    value: float,
    *,
    count: int,
    seed: int,
    length: int | None = None,  # noqa: PT028, not a test
) -> TestSet:
    """Draw `count` samples at a value of an axis, the same for the same seed.

    Tasks of variable length are tested on all their lengths evenly, unless the axis is the length or one is given.
    Tasks whose layout is drawn with every batch are tested on several layouts.
    """
    task = task.tested()
    if axis not in task.axes:
        raise OrdinateError(f"task {task.name!r} has no axis {axis!r}: {nearest(axis, task.axes)}")
    if axis == "length":
        if not float(value).is_integer():
            raise OrdinateError(f"length {value} is not a whole number: write length=4 or length=2:8:2")
        lengths: tuple[int, ...] = (int(value),)
        options: dict[str, float] = {}
    else:
        lengths, options = task.lengths() if length is None else (length,), {axis: value}
    layouts = min(count, task.layouts)
    each = max(1, count // (len(lengths) * layouts))
    draw = generator(seed, "test", axis, value)
    batches = tuple(
        task.sample(each, generator=draw, length=n, **options) for n in lengths for _ in range(layouts)
    )
    inside = task.seen(axis, value) and set(lengths) <= set(task.lengths())
    return TestSet(axis, value, inside, lengths, batches)


test_set.__test__ = False  # type: ignore[attr-defined]


def measure(
    model: Model,
    task: Task,
    tests: TestSet,
    *,
    relative: float = 0.1,
    absolute: float = 0.1,
) -> tuple[Point, Float[Tensor, " sample"]]:
    """Measure a model on a test set; also return the error of every sample: squared, or 1 for a wrong answer."""
    facts: dict[str, Any] = {
        "axis": tests.axis,
        "value": tests.value,
        "in_distribution": tests.in_distribution,
        "lengths": tests.lengths,
    }
    with torch.no_grad():
        if tests.batches[0].target.is_floating_point():
            return _measure_numbers(model, task, tests, facts, relative, absolute)
        return _measure_symbols(model, task, tests, facts)


def outputs(model: Model, task: Task, tests: TestSet) -> Iterator[tuple[Tensor, Batch, Tensor]]:
    """Run a model over a test set, some tokens at a time: outputs, the samples they are of, what is scored."""
    task = tests.at(task)
    for batch in tests.batches:
        scored = task.scored(batch.coordinates)
        chunk = max(1, TOKENS_AT_ONCE // len(batch.coordinates))
        for x, y in zip(batch.input.split(chunk), batch.target.split(chunk), strict=True):
            yield run_model(model, x, batch.coordinates), Batch(x, y, batch.coordinates), scored


def _measure_numbers(
    model: Model, task: Task, tests: TestSet, facts: dict[str, Any], relative: float, absolute: float
) -> tuple[NumberPoint, Float[Tensor, " sample"]]:
    errors, sizes, close = [], [], []
    for output, batch, scored in outputs(model, task, tests):
        target = batch.target.to(output.dtype)
        errors.append(squared_error(output, target, scored))
        sizes.append(squared_size(target, scored))
        close.append(within_tolerance(output, target, scored, relative=relative, absolute=absolute))
    there = tests.at(task)
    variances = [target_variance(batch.target, there.scored(batch.coordinates)) for batch in tests.batches]
    per_sample = torch.cat(errors)
    mse = float(per_sample.double().mean())
    variance = sum(variances) / len(variances)
    point = NumberPoint(
        **facts,
        count=len(per_sample),
        accuracy=float(torch.cat(close).double().mean()),
        mse=mse,
        relative_error=math.sqrt(mse / max(float(torch.cat(sizes).double().mean()), 1e-300)),
        variance_share=mse / variance if variance > 0 else math.nan,
    )
    return point, per_sample


def _measure_symbols(
    model: Model, task: Task, tests: TestSet, facts: dict[str, Any]
) -> tuple[SymbolPoint, Float[Tensor, " sample"]]:
    exact, symbols, entropies = [], [], []
    for output, batch, scored in outputs(model, task, tests):
        right = symbols_right(output, batch.target, scored)
        exact.append(right.all(-1))
        symbols.append(right.double().mean(-1))
        entropies.append(symbol_entropy(output, batch.target, scored))
    per_sample = torch.cat(exact)
    point = SymbolPoint(
        **facts,
        count=len(per_sample),
        accuracy=float(per_sample.double().mean()),
        symbol_accuracy=float(torch.cat(symbols).mean()),
        cross_entropy=float(torch.cat(entropies).double().mean()),
    )
    return point, (~per_sample).float()


def run_model(model: Model, x: Tensor, coordinates: Coordinates) -> Tensor:
    """The outputs of a model, computed where it is and in its precision."""
    if isinstance(model, torch.nn.Module):
        first = next(model.parameters())
        x = x.to(first.device, first.dtype) if x.is_floating_point() else x.to(first.device)
        return model(x, coordinates).cpu()  # type: ignore[no-any-return]
    return model(x, coordinates)


def sweep(
    model: Model,
    task: Task,
    axis: str | Axis,
    values: Iterable[float | int] | None = None,
    *,
    count: int = 1000,
    seed: int = 0,
) -> list[Point]:
    """Measure a model along an axis: `sweep(model, task, "scale", [1, 2, 10])`.

    A model is anything that maps (inputs, coordinates) to outputs.
    """
    if isinstance(axis, str):
        axis = Axis(axis, tuple(map(float, values))) if values is not None else Axis.parse(axis)
    sets: Sequence[TestSet] = [test_set(task, axis.name, v, count=count, seed=seed) for v in axis.values]
    return [measure(model, task, tests)[0] for tests in sets]
