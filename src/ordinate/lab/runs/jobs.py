"""What an engine is, what it is given and what it gives back: jobs, events, outcomes."""

import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, TypeVar

from ordinate.errors import OrdinateError
from ordinate.lab.plugins import named_files

Kind = Literal["started", "progress", "retried", "done", "failed"]


@dataclass(frozen=True)
class Job:
    """Something to compute: `call(report=..., **kwargs)`, with `call` a module-level function.

    `report(**facts)` may be called any number of times; each call becomes a progress event in the parent.

    >>> Job("seed-0", train_one, {"seed": 0})     # doctest: +SKIP
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
