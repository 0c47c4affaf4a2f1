"""Jobs, the engines that run them, and the worker process that does one.

A worker's messages are pickled there and sent as bytes: the pickler that `Connection.send` uses would hand tensors over
as shared memory, which is gone when the worker ends before the parent has looked.
"""

import contextlib
import ctypes
import os
import pickle
import signal
import sys
import threading
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Literal, NoReturn, TypeVar

from ordinate.errors import OrdinateError
from ordinate.lab.plugins import load, named_files

Kind = Literal["started", "progress", "retried", "done", "failed"]


@dataclass(frozen=True)
class Job:
    """Something to compute: `call(report=..., **kwargs)`, with `call` a module-level function.

    `report(**facts)` may be called any number of times; each call becomes a progress event in the parent.
    """

    name: str
    call: Callable[..., Any]
    kwargs: dict[str, Any] = field(default_factory=dict)

    def pack(self) -> bytes:
        """The job, and the plug-ins that it may need, as bytes for a worker; one that cannot be sent is refused."""
        if "report" in self.kwargs:
            raise OrdinateError(
                f"job {self.name!r} has an argument named report, which the engine passes: rename it"
            )
        try:
            work = pickle.dumps((self.call, self.kwargs), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            advice = f"use a module-level function and plain values ({error})"
            raise OrdinateError(f"job {self.name!r} cannot be sent to a worker: {advice}") from error
        return pickle.dumps((named_files(), work), protocol=pickle.HIGHEST_PROTOCOL)


@dataclass(frozen=True)
class Outcome:
    """What became of a job: its value, or the text of its error.

    >>> Outcome(Job("seed-0", print), value=None, error="worker died (signal 9) twice", attempts=2).ok
    False
    """

    job: Job
    value: Any
    error: str | None
    attempts: int

    @property
    def ok(self) -> bool:
        """Whether the job returned."""
        return self.error is None


@dataclass(frozen=True)
class Event:
    """Something that happened to a job.

    `facts` are pid and attempt (started), what the job reported (progress), the cause (retried), the seconds
    (done) or the error (failed).
    """

    job: Job
    kind: Kind
    facts: dict[str, Any]


E = TypeVar("E", bound="Engine")

OnEvent = Callable[[Event], None]
"""Told of everything that happens to a job."""

_TIMES = {1: "", 2: " twice"}


class Engine(ABC):
    """Runs many jobs side by side, wherever that is.

    A job whose worker dies is tried again `retries` times, then it has failed; one that raises an exception is not
    tried again. Neither stops the others. What a job computes does not depend on the engine.
    """

    workers: int
    """How many jobs run at once."""
    retries: int

    @classmethod
    @abstractmethod
    def open(cls, address: str | None, workers: int | None) -> "Engine":
        """The engine as a command asks for it: at an address where it can have one, with so many workers."""

    @abstractmethod
    def run(self, jobs: Iterable[Job], on_event: OnEvent | None = None) -> list[Outcome]:
        """Run all jobs and return their outcomes in the order of the jobs.

        `on_event` is called in this process, between messages. If it raises, or on Ctrl-C, all workers are
        ended and the exception goes on.
        """

    def close(self) -> None:
        """Let go of what the engine holds, if anything."""
        return

    def __enter__(self: E) -> E:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def died_so_often(cause: str, attempts: int) -> str:
    """The error of a job whose workers died at every attempt.

    >>> died_so_often("worker died (signal 9)", 2)
    'worker died (signal 9) twice'
    """
    return cause + _TIMES.get(attempts, f" {attempts} times")


def check_counts(**counts: tuple[int, int]) -> None:
    """Refuse a count below its least value: `name=(count, least)`."""
    for name, (value, least) in counts.items():
        if value < least:
            raise OrdinateError(f"{name} cannot be {value}: write {least} or more")


THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""What numerical libraries look at when they are loaded."""

_PR_SET_PDEATHSIG = 1


def work(payload: bytes, threads: int, connection: Connection) -> None:
    """Run the job in `payload`; send `("begun", pid)`, any `("progress", facts)`, then a value or an error.

    The engine starts this function in a process of its own; there is no other use for it.
    """
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends the workers
    _end_with_server()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _send(connection, outcome(payload, threads, lambda data: _send(connection, data)))
    connection.close()


def outcome(payload: bytes, threads: int, send: Callable[[bytes], None]) -> bytes:
    """Run a job, sending what it reports; return the last message: its value, or the text of what went wrong."""

    def report(**facts: Any) -> None:
        send(_pack("progress", facts))

    send(_pack("begun", os.getpid()))
    try:
        _prepare(threads)
        plugins, job = pickle.loads(payload)
        load(*plugins)
        call, kwargs = pickle.loads(job)
        return _pack("value", call(report=report, **kwargs))
    except OrdinateError as error:
        return _pack("error", str(error))
    except BaseException:
        return _pack("error", traceback.format_exc().strip())


def _prepare(threads: int) -> None:
    import torch

    from ordinate.lab.threads import keep_freed_memory

    torch.set_num_threads(threads)
    keep_freed_memory()


def _pack(kind: str, content: Any) -> bytes:
    return pickle.dumps((kind, content), protocol=pickle.HIGHEST_PROTOCOL)


def _send(connection: Connection, data: bytes) -> None:
    try:
        connection.send_bytes(data)
    except OSError:  # nobody listens any more
        _leave()


def _end_with_server() -> None:
    """On Linux, die with the process that made this one: without it nobody learns how this one ends."""
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end_with_parent() -> None:
    """Leave when the parent is gone, however it went: work that nobody waits for must not go on."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        _leave()


def _leave() -> NoReturn:
    os._exit(1)
