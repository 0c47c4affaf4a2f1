"""Processes that train side by side, one thread each, and count their steps in common windows of time."""

import multiprocessing
import time
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from tempfile import TemporaryDirectory
from threading import BrokenBarrierError
from types import TracebackType
from typing import Any

import torch

from ordinate.errors import OrdinateError
from ordinate.lab.runs import keep_freed_memory
from ordinate.lab.training import Recipe, train

_PATIENCE = 300.0
"""Seconds after which a barrier that nobody opens is given up."""


class Crew:
    """As many processes as `workers`, each in a training of its own; between windows they wait.

    A window opens for all at once, behind a barrier. Each process counts the steps up to its last report inside
    the window, so that all it counts was done while the others were at work.
    """

    def __init__(self, recipe: Recipe, *, members: int, workers: int, window: float) -> None:
        self.start_up, self._began = 0.0, time.monotonic()
        context = multiprocessing.get_context("spawn")
        self._barrier = context.Barrier(workers + 1)
        self._processes: list[Any] = []
        self._pipes: list[Connection] = []
        for place in range(workers):
            ours, theirs = context.Pipe(duplex=False)
            seeds = range(place * members, (place + 1) * members)
            arguments = (recipe.to_dict(), seeds, window, self._barrier, theirs)
            self._processes.append(context.Process(target=_work, args=arguments, daemon=True))
            self._pipes.append(ours)
            self._processes[-1].start()
            theirs.close()

    def __enter__(self) -> "Crew":
        try:
            self._receive()
        except BaseException:
            self.close()
            raise
        self.start_up = time.monotonic() - self._began
        return self

    def rate(self) -> float:
        """Open a window; return the steps per second of all processes together, each step of each seed counted."""
        try:
            self._barrier.wait(_PATIENCE)
        except BrokenBarrierError:
            raise OrdinateError(f"a benchmark process did not answer for {_PATIENCE:g} seconds") from None
        return sum(self._receive())

    def _receive(self) -> list[float]:
        try:
            return [pipe.recv() for pipe in self._pipes]
        except EOFError:
            raise OrdinateError(
                "a benchmark process died: see what it wrote, or use fewer processes"
            ) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        self._barrier.abort()
        for process, pipe in zip(self._processes, self._pipes, strict=True):
            process.join(10.0)
            if process.is_alive():
                process.kill()
                process.join()
            pipe.close()


def _work(document: dict[str, Any], seeds: range, window: float, barrier: Barrier, pipe: Connection) -> None:
    """Train in a process of its own until the barrier is broken."""
    torch.set_num_threads(1)
    keep_freed_memory()
    with TemporaryDirectory() as folder:
        try:
            report = _Counter(len(seeds), window, barrier, pipe)
            train(Recipe.parse(document), seeds, store=folder, report=report)
        except BrokenBarrierError:
            pass


class _Counter:
    """Takes the reports of a training, and holds it still between windows."""

    def __init__(self, members: int, window: float, barrier: Barrier, pipe: Connection) -> None:
        self.members, self.window, self.barrier, self.pipe = members, window, barrier, pipe
        self.opened: tuple[int, float] | None = None
        self.rate = 0.0

    def __call__(self, *, step: int, **facts: object) -> None:
        """The first report ends the warm-up; later ones count until the window is over."""
        now = time.monotonic()
        if self.opened is None:
            self.wait(step)
            return
        first, began = self.opened
        inside = now - began <= self.window
        if inside or self.rate == 0.0:
            self.rate = (step - first) * self.members / (now - began)
        if not inside:
            self.wait(step)

    def wait(self, step: int) -> None:
        """Send the rate and wait for the next window."""
        self.pipe.send(self.rate)
        self.barrier.wait(_PATIENCE)
        self.opened, self.rate = (step, time.monotonic()), 0.0
