"""The local engine: many jobs side by side, one process each, one thread each.

Two processes with one thread beat one process with two for models of this size, and a process that is killed
(out of memory, a crash in native code) takes nothing down but its own job, which is tried again.

A job calls a module-level function, so that a fresh process can import it. In a script of your own, write
the call of the engine under `if __name__ == "__main__":`: each worker imports the script (as every use of
`multiprocessing` does, so that tasks defined there are known), and must not start the work again.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from typing_extensions import override

from ordinate.errors import OrdinateError, nearest
from ordinate.lab.runs.environment import cores
from ordinate.lab.runs.jobs import (
    THREAD_VARIABLES,
    Engine,
    Event,
    Job,
    OnEvent,
    Outcome,
    check_counts,
    died_so_often,
    work,
)
from ordinate.lab.runs.ray_engine import RayEngine


@dataclass
class _Attempt:
    """One process at work on one job."""

    place: int
    number: int
    process: Any
    connection: Connection
    began: float
    pid: int | None = None
    answer: tuple[str, Any] | None = None


class LocalEngine(Engine):
    """Runs jobs in processes on this machine.

    >>> engine = LocalEngine(workers=2)                                                   # doctest: +SKIP
    >>> jobs = [Job(f"seed-{k}", train_one, {"seed": k}) for k in range(6)]               # doctest: +SKIP
    >>> [outcome.value for outcome in engine.run(jobs) if outcome.ok]                     # doctest: +SKIP

    `workers` is the number of processes (default: the cores this process may use), `threads` the number of
    threads of each, `retries` how often a job whose process died is tried again. A job that raises an
    exception is not tried again.
    """

    def __init__(self, workers: int | None = None, threads: int = 1, retries: int = 1) -> None:
        self.workers = cores() if workers is None else workers
        self.threads = threads
        self.retries = retries
        check_counts(workers=(self.workers, 1), threads=(threads, 1), retries=(retries, 0))

    @classmethod
    @override
    def open(cls, address: str | None, workers: int | None) -> "LocalEngine":
        if address is not None:
            raise OrdinateError("the local engine has no address: write --engine ray, or leave --address out")
        return cls(workers)

    @override
    def run(self, jobs: Iterable[Job], on_event: OnEvent | None = None) -> list[Outcome]:
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            sys.exit(1)  # a worker that imports an unguarded script: the parent says what to write
        return _Session(self, list(jobs), on_event or (lambda event: None)).outcomes()


class _Session:
    """One call of `LocalEngine.run`."""

    def __init__(self, engine: LocalEngine, jobs: list[Job], on_event: OnEvent) -> None:
        self.engine = engine
        self.jobs = jobs
        self.on_event = on_event
        self.payloads = [job.pack() for job in jobs]
        self.waiting = deque((place, 1) for place in range(len(jobs)))
        self.active: list[_Attempt] = []
        self.finished: dict[int, Outcome] = {}

    def outcomes(self) -> list[Outcome]:
        """Start, listen and collect until every job has its outcome."""
        try:
            while self.waiting or self.active:
                while self.waiting and len(self.active) < self.engine.workers:
                    self.start(*self.waiting.popleft())
                self.listen()
        finally:
            _end(self.active)
        return [self.finished[place] for place in range(len(self.jobs))]

    def start(self, place: int, number: int) -> None:
        """Start a fresh process for the job."""
        began = time.monotonic()
        while True:
            try:
                process, connection = _start(self.jobs[place], self.payloads[place], self.engine.threads)
                break
            except (EOFError, OSError) as error:
                # The server that makes the processes has just died: the next try starts another.
                if time.monotonic() - began > 2.0:
                    raise OrdinateError(f"cannot start a worker: {error}") from error
                time.sleep(0.1)
        self.active.append(_Attempt(place, number, process, connection, began))

    def listen(self) -> None:
        """Wait for messages and for the ends of processes, and deal with those that are there."""
        sources: list[Any] = [a.connection for a in self.active] + [a.process.sentinel for a in self.active]
        ready = wait(sources)
        for attempt in list(self.active):
            ended = attempt.process.sentinel in ready
            if ended or attempt.connection in ready:
                self.receive(attempt, everything=ended)
            if ended or attempt.answer is not None:
                self.active.remove(attempt)
                self.finish(attempt)

    def receive(self, attempt: _Attempt, everything: bool) -> None:
        """Read one message, or all that an ended process has left behind."""
        while attempt.answer is None:
            try:
                data = attempt.connection.recv_bytes() if attempt.connection.poll() else None
            except (EOFError, OSError):  # the pipe is closed: the process is at its end
                attempt.process.join(5.0)
                attempt.process.kill()
                return
            if data is not None:
                self.take(attempt, data)
            if data is None or not everything:
                return

    def take(self, attempt: _Attempt, data: bytes) -> None:
        """Deal with one message."""
        job = self.jobs[attempt.place]
        try:
            kind, content = pickle.loads(data)
        except Exception as error:
            kind, content = "error", f"the result of {job.name!r} cannot be read back: {error}"
        if kind == "begun":
            attempt.pid = content
            self.on_event(Event(job, "started", {"pid": content, "attempt": attempt.number}))
        elif kind == "progress":
            self.on_event(Event(job, "progress", content))
        else:
            attempt.answer = (kind, content)

    def finish(self, attempt: _Attempt) -> None:
        """Record what the process answered, or try again when it died without an answer."""
        _end([attempt], grace=5.0 if attempt.answer else 0.0)
        job = self.jobs[attempt.place]
        value, error = None, None
        if attempt.answer is None:
            cause = _death(attempt)
            if attempt.number <= self.engine.retries:
                self.waiting.appendleft((attempt.place, attempt.number + 1))
                self.on_event(Event(job, "retried", {"cause": cause}))
                return
            error = died_so_often(cause, attempt.number)
        elif attempt.answer[0] == "value":
            value = attempt.answer[1]
        else:
            error = attempt.answer[1]
        self.finished[attempt.place] = Outcome(job, value, error, attempt.number)
        if error is None:
            self.on_event(Event(job, "done", {"seconds": time.monotonic() - attempt.began}))
        else:
            self.on_event(Event(job, "failed", {"error": error}))


def _start(job: Job, payload: bytes, threads: int) -> tuple[Any, Connection]:
    """Start a process for one job; return it with the end of the pipe that it reports to."""
    context = _context(job.call.__module__)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(payload, threads, theirs), name=job.name)
    try:
        with _thread_variables(threads):
            _serve(context)
            process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def _context(*modules: str) -> Any:
    """Return the way to start processes: as copies of a server that has imported what they need, or from nothing."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    own = [name for name in modules if name.startswith("ordinate.")]
    # Every optimiser of PyTorch imports its compiler, which takes longer than all the rest: once is enough.
    context.set_forkserver_preload(["torch", "ordinate", *own, *(["torch._dynamo"] if own else [])])
    return context


def _serve(context: Any) -> None:
    """Start the server with Ctrl-C held back, which it and its copies inherit: the parent alone answers it."""
    if context.get_start_method() != "forkserver":
        return
    resource_tracker.ensure_running()  # which lets the signal through again once it runs
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _thread_variables(threads: int) -> Iterator[None]:
    """Let the numerical libraries of a new process start with few threads: they look only when loaded."""
    before = {name: os.environ.get(name) for name in THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _death(attempt: _Attempt) -> str:
    code = attempt.process.exitcode
    if attempt.pid is None and code == 1:
        raise OrdinateError(
            "a worker could not import the script that started it: "
            'write the call of the engine under `if __name__ == "__main__":`'
        )
    return f"worker died ({f'signal {-code}' if code < 0 else f'exit code {code}'})"


def _end(attempts: list[_Attempt], grace: float = 0.0) -> None:
    """Make sure that the processes are gone: those with an answer get a moment to leave by themselves."""
    for attempt in attempts:
        attempt.process.join(grace)
        if attempt.process.is_alive():
            attempt.process.terminate()
    for attempt in attempts:
        attempt.process.join(5.0)
        if attempt.process.is_alive():
            attempt.process.kill()
            attempt.process.join()
        attempt.connection.close()


ENGINES: dict[str, type[Engine]] = {"local": LocalEngine, "ray": RayEngine}


def open_engine(name: str, *, address: str | None = None, workers: int | None = None) -> Engine:
    """Return the engine with this name.

    >>> open_engine("local", workers=2).workers
    2
    """
    if name not in ENGINES:
        raise OrdinateError(f"there is no engine {name!r}: {nearest(name, ENGINES)}")
    return ENGINES[name].open(address, workers)
