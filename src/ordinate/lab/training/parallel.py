"""One training in several processes: each has its share of every batch, and all take the same step.

`torchrun --standalone --nproc-per-node 2 -m ordinate train RECIPE` starts them and says to each which one it is.
The first one keeps the run; the others hold copies in a folder of their own that is thrown away, so that no file is
written twice.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.tasks.batch import Batch

T = TypeVar("T")


@dataclass(frozen=True)
class World:
    """Which of how many processes this one is."""

    rank: int = 0
    size: int = 1

    @classmethod
    def here(cls) -> "World":
        """What `torchrun` said; alone where it said nothing."""
        return cls(int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1)))

    @property
    def first(self) -> bool:
        """Whether this process keeps the run."""
        return self.rank == 0

    @contextlib.contextmanager
    def joined(self, device: torch.device) -> Iterator[None]:
        """Meet the others, and part from them at the end."""
        if self.size == 1:
            yield
            return
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        try:
            yield
        finally:
            dist.destroy_process_group()

    @contextlib.contextmanager
    def store(self, store: Store) -> Iterator[Store]:
        """Where this process writes: the store itself, or a folder that is thrown away."""
        if self.first:
            yield store
            return
        with tempfile.TemporaryDirectory(prefix="ordinate-") as folder:
            yield Store(folder)

    def device(self, device: torch.device) -> torch.device:
        """The GPU of this process, one for each on a machine; the device itself where it is none."""
        if self.size == 1 or device.type != "cuda":
            return device
        chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(chosen)
        return chosen

    def share(self, batch: Batch) -> tuple[Batch, float]:
        """This process's samples of a batch, and the weight that makes the mean of all shares that of the batch.

        >>> from ordinate.lab.tasks import make_task
        >>> batch = make_task("sum", length=2).sample(5, generator=torch.Generator())
        >>> [(len(part.input), weight) for part, weight in (World(k, 2).share(batch) for k in range(2))]
        [(3, 1.2), (2, 0.8)]
        """
        if self.size == 1:
            return batch, 1.0
        count = len(batch.input)
        chosen = slice(self.rank, None, self.size)
        if self.rank >= count:  # nothing is left for this process: a sample that does not count
            return Batch(batch.input[:1], batch.target[:1], batch.coordinates), 0.0
        part = Batch(batch.input[chosen], batch.target[chosen], batch.coordinates)
        return part, len(part.input) * self.size / count

    def together(self, model: nn.Module) -> nn.Module:
        """The model, whose gradients become the mean over the processes."""
        if self.size == 1:
            return model
        return DistributedDataParallel(model, find_unused_parameters=True)

    def mean(self, values: Tensor) -> Tensor:
        """The mean over the processes of what each of them has."""
        if self.size == 1:
            return values
        values = values.detach().clone()
        dist.all_reduce(values)
        return values / self.size

    def any(self, value: bool, device: torch.device) -> bool:
        """Whether it holds in any of the processes, which meet on `device`."""
        return value if self.size == 1 else bool(self.mean(torch.tensor(float(value), device=device)) > 0)

    def broadcast_from_rank0(self, value: T) -> T:
        """The value of the first process, in all of them."""
        if self.size == 1:
            return value
        parcel: list[Any] = [value]
        dist.broadcast_object_list(parcel, src=0)
        return parcel[0]  # type: ignore[no-any-return]

    def check(self, seeds: int) -> None:
        """One seed at a time: seeds side by side are for one process."""
        if self.size > 1 and seeds > 1:
            raise OrdinateError(
                f"{self.size} processes train one seed together, not {seeds}: write --seed 0, and start another for "
                "the next seed"
            )
