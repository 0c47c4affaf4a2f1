"""Training data: the batch of a step is a pure function of the seed and the step, so that resuming needs no state."""

import torch
from torch import Tensor

from ordinate.errors import OrdinateError
from ordinate.lab.seeds import generator
from ordinate.lab.tasks.base import Task
from ordinate.lab.tasks.batch import Batch


def samples_each(task: Task, samples: int) -> int:
    """How many samples of a fixed set there are of each length."""
    return max(1, samples // len(task.lengths()))


def batch_size(task: Task, batch: int, samples: int | None) -> int:
    """The samples of a step: those asked for, or all that a fixed set has of a length.

    >>> from ordinate.lab.tasks import make_task
    >>> batch_size(make_task("sum", length=4), 64, None), batch_size(make_task("sum", length=4), 64, 10)
    (64, 10)
    """
    return batch if samples is None else min(batch, samples_each(task, samples))


def check_samples(task: Task, samples: int | None) -> None:
    """Refuse a fixed set of samples of a task whose layout changes from batch to batch."""
    if samples is not None and task.layouts > 1:
        raise OrdinateError(
            f"training.samples: {task.name!r} draws a new layout for every batch, so its data are always "
            "fresh; leave training.samples out"
        )


class Data:
    """Batches of a task for one seed, all samples of a batch of one length.

    Tasks of variable length take their lengths in turn, so that each is seen equally often and the members of
    an ensemble meet the same length at the same step. With `samples` a fixed set is drawn once and visited in a new
    order every epoch; without, every batch is fresh.
    """

    def __init__(self, task: Task, *, batch: int, samples: int | None, seed: int) -> None:
        self.task, self.seed, self.samples = task, seed, samples
        self.lengths = task.lengths()
        self.sets: dict[int, Batch] = {}
        self.batch = batch
        check_samples(task, samples)
        if samples is not None:
            each = samples_each(task, samples)
            self.batch = batch_size(task, batch, samples)
            self.sets = {
                n: task.sample(each, generator=generator(seed, "train", n), length=n) for n in self.lengths
            }
        self._orders: dict[int, tuple[int, Tensor]] = {}

    @property
    def epoch(self) -> int:
        """Steps in which a fixed set is seen once; 100 for fresh data, which has no epochs."""
        if self.samples is None:
            return 100
        each = len(next(iter(self.sets.values())).input)
        return len(self.lengths) * -(-each // self.batch)

    def length(self, step: int) -> int:
        """The length of the batch of a step: the same for every seed."""
        return self.lengths[step % len(self.lengths)]

    def at(self, step: int) -> Batch:
        """The batch of a step."""
        length, turn = self.length(step), step // len(self.lengths)
        if self.samples is None:
            return self.task.sample(self.batch, generator=generator(self.seed, "batch", step), length=length)
        kept = self.sets[length]
        per_epoch = -(-len(kept.input) // self.batch)
        epoch, place = divmod(turn, per_epoch)
        if length not in self._orders or self._orders[length][0] != epoch:
            draw = generator(self.seed, "epoch", epoch, length)
            self._orders[length] = (epoch, torch.randperm(len(kept.input), generator=draw))
        chosen = self._orders[length][1][place * self.batch : (place + 1) * self.batch]
        return Batch(kept.input[chosen], kept.target[chosen], kept.coordinates)
