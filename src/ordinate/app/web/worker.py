"""One thread for the models, with a bounded queue, so that the page answers while a model computes."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from heapq import heappop, heappush
from itertools import count
from typing import Any, TypeVar

from starlette.requests import Request

T = TypeVar("T")

WAITING = 128
"""Short questions, and as many long ones, that may wait: a class of pupils; more are refused at once."""
LOOK_AROUND = 0.2
"""Seconds between looks whether the client is still there."""


class BusyError(Exception):
    """The queue is full."""


class GoneError(Exception):
    """The client has left before its turn came."""


class Worker:
    """Runs functions one after another in a thread: short ones before long ones, else in the order in which they came.

    One thread is enough and is needed: hooks are set on the models, and training on this machine wants its cores.
    """

    def __init__(self, waiting: int = WAITING) -> None:
        self.waiting = waiting
        self._inside = {True: 0, False: 0}
        self._number = count()
        self._lock = threading.Lock()
        self._queue: list[tuple[bool, int, Future[Any], Callable[[], Any]]] = []
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ordinate-models")

    async def run(self, request: Request, work: Callable[[], T], *, short: bool = False) -> T:
        """Wait for the turn of `work` and return what it returns; forget it when the client leaves."""
        if self._inside[short] > self.waiting:
            kind = "short" if short else "long"
            raise BusyError(
                f"{self._inside[short]} {kind} questions are before this one: try again in a moment"
            )
        self._inside[short] += 1
        future: Future[T] = Future()
        with self._lock:
            heappush(self._queue, (not short, next(self._number), future, work))
        self._pool.submit(self._next)
        waited = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait({waited}, timeout=LOOK_AROUND))[0]:
                if await request.is_disconnected() and future.cancel():
                    raise GoneError("the client has left")
            return waited.result()
        finally:
            self._inside[short] -= 1

    def _next(self) -> None:
        """Do what comes first now: the queue has one entry for every call."""
        with self._lock:
            *_, future, work = heappop(self._queue)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:  # it is raised where the result is waited for
                future.set_exception(error)

    def close(self) -> None:
        """Drop what waits, at the end of the page."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            for *_, future, _work in self._queue:
                future.cancel()
