"""The machine that trains: its devices and memory, its processes, and the signals that ask it to stop.

`torchrun --standalone --nproc-per-node 2 -m ordinate train RECIPE` trains in several processes, and says to each which
one it is. Each has its share of every batch, and all take the same step. The first one keeps the run; the others hold
copies in a folder of their own that is thrown away, so that no file is written twice.
"""

import contextlib
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from ordinate.errors import OrdinateError
from ordinate.lab.runs import Store
from ordinate.lab.tasks.batch import Batch
from ordinate.lab.training.recipe import Recipe

T = TypeVar("T")


def resolve_device(name: str) -> torch.device:
    """Return the device of a recipe; `auto` takes CUDA, then MPS, then the CPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = max(there, key=there.__getitem__)  # the first that is there
    if not there[name]:
        raise OrdinateError(f'device {name!r} is not there on this machine: write training.device = "auto"')
    return torch.device(name)


def ensemble_bytes(recipe: Recipe) -> int:
    """Estimate of the memory of one member: parameters with gradients and two moments, and all activations."""
    model, training = recipe.model, recipe.training
    tokens = len(recipe.task.coordinates(max(recipe.task.lengths()))) + 1
    number = 8 if training.precision == "float64" else 4
    parameters, a_token = model.sizes(tokens)
    data = 2 * tokens * (training.samples or training.batch)
    return number * (5 * parameters + 2 * training.batch * tokens * a_token + data)


def check_memory(recipe: Recipe, seeds: int) -> None:
    """Refuse more seeds than fit into the free memory at once."""
    if seeds < 1:
        raise OrdinateError(f"{seeds} seeds cannot be trained: write --seeds 1 or more")
    try:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return
    each = ensemble_bytes(recipe)
    most = int(0.9 * free / each)
    if seeds > most:
        raise OrdinateError(
            f"{seeds} seeds at once need about {seeds * each / 2**30:.1f} GiB, "
            f"{free / 2**30:.1f} GiB are free: at most {max(most, 0)} seeds, or a smaller training.batch"
        )


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
    def joined(self, device: torch.device, store: Store) -> Iterator[Store]:
        """Meet the others, and part from them at the end; yields where this process writes."""
        if self.size == 1:
            yield store
            return
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        try:
            if self.first:
                yield store
            else:
                with tempfile.TemporaryDirectory(prefix="ordinate-") as folder:
                    yield Store(folder)
        finally:
            dist.destroy_process_group()

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


STOPPING = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """Training was asked to stop and has saved its state; the text says at which step."""


class StopRequest:
    """Whether Ctrl-C or SIGTERM has asked this process to stop, which it does between two steps; a second one at once.

    Python runs signal handlers in its main thread, so elsewhere nothing is held back. A signal that the process
    ignores stays ignored.

    >>> with StopRequest() as stop:     # doctest: +SKIP
    ...     while not stop.asked:
    ...         take_a_step()
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "StopRequest":
        if threading.current_thread() is threading.main_thread():
            for number in STOPPING:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            with contextlib.suppress(TypeError):  # a handler that was not set from Python cannot be set again
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
