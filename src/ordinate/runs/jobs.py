"""What an engine is given and what it gives back: jobs, events, outcomes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

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
