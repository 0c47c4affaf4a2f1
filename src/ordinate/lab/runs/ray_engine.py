"""The engine for many machines: the same jobs as plain Ray tasks.

Every machine of the cluster needs Ordinate, and a folder under the same path on a disk that all of them share: runs
are written there, and one that is tried again on another machine goes on from its last state.
"""

import contextlib
import os
import pickle
import socket
import sys
import time
from collections import deque
from collections.abc import Iterable
from typing import Any

from typing_extensions import override

from ordinate.errors import OrdinateError
from ordinate.lab.runs.jobs import (
    THREAD_VARIABLES,
    Engine,
    Event,
    Job,
    OnEvent,
    Outcome,
    check_counts,
    died_so_often,
    outcome,
)

PAUSE = 0.3
"""Seconds between two looks at what the workers have sent."""

PATIENCE = 10.0
"""Seconds that a cluster may take to answer at its address."""


class RayEngine(Engine):
    """Runs jobs as tasks of Ray: on a cluster that is named by its address, or on a Ray started here.

    >>> engine = RayEngine(address="auto")                                      # doctest: +SKIP
    >>> [outcome.value for outcome in engine.run(jobs) if outcome.ok]           # doctest: +SKIP

    `workers` is the most jobs at once (default: as many as the cluster has cores for), `threads` the cores and
    threads of each, `retries` how often a job whose worker or machine died is tried again.
    """

    def __init__(
        self, address: str | None = None, workers: int | None = None, threads: int = 1, retries: int = 1
    ) -> None:
        check_counts(
            workers=(1 if workers is None else workers, 1), threads=(threads, 1), retries=(retries, 0)
        )
        self.address, self.threads, self.retries = address, threads, retries
        self.most = workers
        """The most jobs that Ray is given at once; None lets it see all, so that a cluster can grow."""
        self.workers = workers or 0
        self._ray = need_ray()
        self._joined = False

    def __enter__(self) -> "RayEngine":
        self._connect()
        return self

    @classmethod
    @override
    def open(cls, address: str | None, workers: int | None) -> "RayEngine":
        return cls(address, workers)

    @override
    def run(self, jobs: Iterable[Job], on_event: OnEvent | None = None) -> list[Outcome]:
        self._connect()
        with _quiet():
            return _Session(self, self._ray, list(jobs), on_event or (lambda event: None)).outcomes()

    @override
    def close(self) -> None:
        if self._joined:
            with _quiet():
                self._ray.shutdown()
            self._joined = False

    def _connect(self) -> None:
        """Join the cluster, or start a Ray on this machine, which ends with this process at the latest."""
        if not self._ray.is_initialized():
            with _quiet():
                self._init()
            self._joined = True
        if self.most is None:
            self.workers = int(self._ray.cluster_resources().get("CPU", 0)) // self.threads

    def _init(self) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        variables = dict.fromkeys(THREAD_VARIABLES, str(self.threads))
        options: dict[str, Any] = {"runtime_env": {"env_vars": variables}}
        if self.address is None:
            os.environ.setdefault("RAY_AUTH_MODE", "disabled")
            options |= {"address": "local", "include_dashboard": False}
            if self.most is not None:
                options["num_cpus"] = self.most * self.threads
        else:
            options["address"] = self.address
        try:
            _knock(self.address)
            self._ray.init(log_to_driver=False, logging_level="ERROR", **options)
        except Exception as error:
            where = "on this machine" if self.address is None else f"at {self.address!r}"
            line = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise OrdinateError(f"there is no Ray {where}: {line}; write --address HOST:6379") from error


def _knock(address: str | None) -> None:
    """Raise at once where nobody listens at HOST:PORT; Ray itself would wait for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        with socket.create_connection((host, int(port)), timeout=PATIENCE):
            pass


def _quiet() -> contextlib.redirect_stdout[Any]:
    """Ray prints what it notices on stdout, where only a command's answer belongs."""
    return contextlib.redirect_stdout(sys.stderr)


class _Session:
    """One call of `RayEngine.run`."""

    def __init__(self, engine: RayEngine, ray: Any, jobs: list[Job], on_event: OnEvent) -> None:
        self.engine, self.ray, self.jobs, self.on_event = engine, ray, jobs, on_event
        self.payloads = [job.pack() for job in jobs]
        self.waiting = deque((place, 1) for place in range(len(jobs)))
        self.active: dict[Any, tuple[int, int]] = {}
        """Tasks that Ray was given, with the place of the job and the number of the attempt."""
        self.begun: dict[tuple[int, int], float] = {}
        self.finished: dict[int, Outcome] = {}
        self.task = ray.remote(num_cpus=engine.threads, max_retries=0)(_work)
        self.mailbox = ray.remote(num_cpus=0, max_restarts=-1)(_Mailbox).remote()

    def outcomes(self) -> list[Outcome]:
        """Submit, listen and collect until every job has its outcome."""
        try:
            while self.waiting or self.active:
                self.submit()
                done, _ = self.ray.wait(list(self.active), num_returns=len(self.active), timeout=PAUSE)
                self.listen()
                for task in done:
                    self.finish(task, *self.active.pop(task))
        finally:
            self.end()
        return [self.finished[place] for place in range(len(self.jobs))]

    def submit(self) -> None:
        """Give Ray as many jobs as it may have."""
        most = self.engine.most or len(self.jobs)
        while self.waiting and len(self.active) < most:
            place, number = self.waiting.popleft()
            task = self.task.remote(self.payloads[place], self.engine.threads, (place, number), self.mailbox)
            self.active[task] = (place, number)

    def listen(self) -> None:
        """Deal with what jobs that still run have reported."""
        try:
            letters = self.ray.get(self.mailbox.empty.remote(), timeout=10)
        except (
            self.ray.exceptions.RayError
        ):  # the machine of the mailbox is gone: the next letters come again
            return
        for attempt, data in letters:
            place, number = attempt
            if attempt not in self.active.values():
                continue
            kind, content = pickle.loads(data)
            if kind == "begun":
                self.begun[attempt] = time.monotonic()
                self.on_event(Event(self.jobs[place], "started", {"pid": content, "attempt": number}))
            else:
                self.on_event(Event(self.jobs[place], "progress", content))

    def finish(self, task: Any, place: int, number: int) -> None:
        """Record what the task answered, or try again when its worker died without an answer."""
        job, value, error = self.jobs[place], None, None
        try:
            kind, content = pickle.loads(self.ray.get(task))
            value, error = (content, None) if kind == "value" else (None, content)
        except _deaths(self.ray) as death:
            cause = f"worker died ({type(death).__name__})"
            if number <= self.engine.retries:
                self.waiting.appendleft((place, number + 1))
                self.on_event(Event(job, "retried", {"cause": cause}))
                return
            error = died_so_often(cause, number)
        except Exception as failure:  # the task could not be started, or its value not be read back
            error = str(failure).strip() or type(failure).__name__
        self.finished[place] = Outcome(job, value, error, number)
        if error is None:
            seconds = time.monotonic() - self.begun.get((place, number), time.monotonic())
            self.on_event(Event(job, "done", {"seconds": seconds}))
        else:
            self.on_event(Event(job, "failed", {"error": error}))

    def end(self) -> None:
        """Make sure that nothing of these jobs goes on: their workers hold the locks of runs."""
        tasks = list(self.active)
        for task in tasks:
            self.ray.cancel(task, force=True)
        if tasks:
            self.ray.wait(tasks, num_returns=len(tasks), timeout=10)
        self.ray.kill(self.mailbox)


class _Mailbox:
    """Where workers leave what they report until the parent asks."""

    def __init__(self) -> None:
        self.letters: list[tuple[tuple[int, int], bytes]] = []

    def put(self, attempt: tuple[int, int], data: bytes) -> None:
        self.letters.append((attempt, data))

    def empty(self) -> list[tuple[tuple[int, int], bytes]]:
        letters, self.letters = self.letters, []
        return letters


def _work(payload: bytes, threads: int, attempt: tuple[int, int], mailbox: Any) -> bytes:
    """Inside a worker of Ray: one job."""
    return outcome(payload, threads, lambda data: mailbox.put.remote(attempt, data))


def need_ray() -> Any:
    """Return ray, which the extra `ray` installs."""
    try:
        import ray
    except ImportError:
        raise OrdinateError("this engine needs Ray: write pip install 'ordinate[ray]'") from None
    return ray


def _deaths(ray: Any) -> tuple[type[Exception], ...]:
    """What Ray raises when a worker or its machine is gone."""
    names = (
        "WorkerCrashedError",
        "NodeDiedError",
        "OutOfMemoryError",
        "ObjectLostError",
        "LocalRayletDiedError",
    )
    return tuple(getattr(ray.exceptions, name) for name in names)
