"""Which tokens an answer depends on, sample by sample: every token is resampled, and the change of the answer measured.

All of it goes through whole batches: one call of the reference answers one redrawn token of all samples. Numbers are
answered in float64, so that an influence can be followed over nine decimal places.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Generator, Tensor

from ordinate.coordinates import Coordinates
from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Answers, Batch

SMALL = 1e-9
"""Of the mean answer: changes below are rounding."""
WORK = 2**20
"""Numbers that a probe answers, about: samples x tokens x keys x redraws."""
FEWEST, MOST = 32, 2048
"""Samples of a probe."""
MOST_VALUES = 16
"""Up to this many different values, tokens are distinguished by value."""
REPEATS = 6
"""How often each token is resampled; a sign is then kept by chance in one sample of 2^6."""
PILOT = 256
"""Samples that decide which answer is probed."""

Report = Callable[[int, int], None]
Lag = tuple[str, int]
"""A field, and the ordinate of the answer minus that of the token."""


@dataclass(frozen=True)
class Changes:
    """What redrawing did to one answer."""

    moved: Int[Tensor, "sample key"]
    """Redraws that gave the token another value."""
    changed: Int[Tensor, "sample key"]
    """Of these, the ones that changed the answer."""
    size: Float[Tensor, "sample key"]
    """The sum of all changes of the answer; of 1 each where answers are symbols."""

    @property
    def present(self) -> Bool[Tensor, "sample key"]:
        """Where a token can change the answer."""
        return self.changed > 0

    @property
    def share(self) -> Float[Tensor, "sample key"]:
        """How many of the redraws that gave another value changed the answer."""
        return self.changed / self.moved.clamp(min=1)

    @property
    def mean(self) -> Float[Tensor, " key"]:
        """The mean change, over samples and redraws that gave another value."""
        return self.size.sum(0) / self.moved.sum(0).clamp(min=1)


@dataclass(frozen=True)
class Probe:
    """One answer of a task at one length, and what it depends on."""

    task: Task
    length: int
    batch: Batch
    answer: int
    keys: tuple[int, ...]
    """Tokens that can be resampled."""
    changes: Changes

    def lag(self, token: int) -> Lag:
        """The position of a token, seen from the answer."""
        c = self.batch.coordinates
        return c.fields[c.field[token]], c.ordinate[self.answer] - c.ordinate[token]

    @cached_property
    def lags(self) -> tuple[Lag, ...]:
        """Of every key."""
        return tuple(self.lag(key) for key in self.keys)

    @cached_property
    def used(self) -> frozenset[Lag]:
        """Lags that any sample depends on."""
        there = self.changes.present.any(0).tolist()
        return frozenset(lag for lag, used in zip(self.lags, there, strict=True) if used)

    @property
    def size(self) -> float:
        """Tokens that one sample depends on, in the mean."""
        return float(self.changes.present.sum(1).double().mean())

    @property
    def values(self) -> int | None:
        """Different values of a token; None where they are many, or vectors."""
        count = None if self.classes is None else len(self.batch.input[:, list(self.keys)].unique())
        return None if count is None or count > MOST_VALUES else count

    @cached_property
    def classes(self) -> Int[Tensor, "sample key"] | None:
        """A small number for what a token is: its value, or which quarter, where values are many; None for vectors."""
        tokens = self.batch.input[:, list(self.keys)]
        if tokens.ndim == 3:
            if tokens.shape[-1] != 1:
                return None
            tokens = tokens[..., 0]
        different = tokens.unique()
        if len(different) > MOST_VALUES:
            different = (
                tokens.double().flatten().quantile(torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64))
            )
        return torch.bucketize(tokens.contiguous(), different)


def draw_probe(
    task: Task,
    length: int,
    seed: int,
    report: Report | None = None,
    *,
    keys: tuple[int, ...] | None = None,
    answer: int | None = None,
    count: int | None = None,
) -> Probe:
    """Look at the answer that depends on the most tokens; or at a given one, for given keys.

    >>> from ordinate.lab.tasks import make_task
    >>> sorted(draw_probe(make_task("fixed-memory", length=12), 12, 0).used)
    [('token', 2), ('token', 5)]
    """
    generator = torch.Generator().manual_seed(seed)
    one = task.sample(1, generator=generator, length=length)
    if count is None:
        count = max(FEWEST, min(MOST, WORK // (one.input.numel() * len(one.coordinates) * REPEATS)))
    batch = doubled(task, task.sample(count, generator=generator, length=length))
    free = task.free(batch.coordinates, length)
    if not free:
        raise OrdinateError(
            f"no token of {task.name!r} can be replaced by another draw on its own: nothing can be learned"
        )
    if answer is None:
        answer = _busiest(task, Batch(batch.input[:PILOT], batch.target[:PILOT], batch.coordinates), free)
    changes = redrawn(task, batch, answer, keys or free, REPEATS, generator, report)
    return Probe(task, length, batch, answer, keys or free, changes)


def doubled(task: Task, batch: Batch) -> Batch:
    """The batch in float64, where it has numbers."""
    if not batch.input.is_floating_point():
        return batch
    inputs = batch.input.double()
    return Batch(inputs, task.reference(inputs, batch.coordinates), batch.coordinates)


def redrawn(
    task: Task,
    batch: Batch,
    answer: int,
    keys: Sequence[int],
    repeats: int,
    generator: Generator,
    report: Report | None = None,
) -> Changes:
    """Draw every key anew, several times, and add up what happens to the answer."""
    count = len(batch.input)
    moved = torch.zeros(count, len(keys), dtype=torch.long)
    changed, size = torch.zeros_like(moved), torch.zeros(count, len(keys), dtype=torch.float64)
    for column, key in enumerate(keys):
        for _ in range(repeats):
            inputs = task.redraw(batch, key, generator)
            after = task.reference(inputs, batch.coordinates)
            other = _unlike(inputs[:, key], batch.input[:, key])
            apart = difference(task, batch.target, after, batch.coordinates)[:, answer]
            moved[:, column] += other
            changed[:, column] += (apart > 0) & other
            size[:, column] += apart * other
        if report is not None:
            report(column + 1, len(keys))
    return Changes(moved, changed, size)


def difference(
    task: Task, before: Answers, after: Answers, coordinates: Coordinates
) -> Float[Tensor, "batch token"]:
    """How far apart two answers are at every token, over the outputs that count; 0 where it is rounding."""
    if not before.is_floating_point():
        return task.differs(before, after).double()
    counts = task.scored(coordinates).to(before.device)
    apart = torch.where((before == after) | ~counts, 0.0, (after - before).abs())
    apart = apart.nan_to_num(nan=1.0, posinf=1.0).amax(-1)
    finite = before[before.isfinite()]
    scale = float(finite.abs().mean()) if len(finite) else 1.0
    return torch.where(apart > SMALL * max(scale, SMALL), apart, 0.0)


def _unlike(
    one: Shaped[Tensor, " batch *rest"], other: Shaped[Tensor, " batch *rest"]
) -> Bool[Tensor, " batch"]:
    apart = one != other
    return apart.any(-1) if apart.ndim == 2 else apart


def _busiest(task: Task, batch: Batch, keys: Sequence[int]) -> int:
    """The answer with the most dependences; of several that are close, the one of the highest ordinate."""
    generator = torch.Generator().manual_seed(0)
    found = torch.zeros(len(batch.coordinates), dtype=torch.float64)
    for key in keys:
        inputs = task.redraw(batch, key, generator)
        after = task.reference(inputs, batch.coordinates)
        apart = difference(task, batch.target, after, batch.coordinates) > 0
        found += apart.double().mean(0) + apart.any(0)
    found[~task.scored(batch.coordinates).any(-1)] = -1
    close: list[int] = (found >= 0.97 * found.max()).nonzero().flatten().tolist()
    return max(close, key=lambda token: (batch.coordinates.ordinate[token], token))
