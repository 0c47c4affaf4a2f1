"""One thread for the models, with a short queue, so that the page answers while a model computes."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

T = TypeVar("T")

WAITING = 8
"""Jobs that may wait; more are refused at once."""
LOOK_AROUND = 0.2
"""Seconds between looks whether the client is still there."""


class BusyError(Exception):
    """The queue is full."""


class GoneError(Exception):
    """The client has left before its turn came."""


class Worker:
    """Runs functions one after another in a thread of its own.

    One thread is enough and is needed: hooks are set on the models, and training on this machine wants its cores.
    """

    def __init__(self, waiting: int = WAITING) -> None:
        self.waiting = waiting
        self._inside = 0
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ordinate-models")

    async def run(self, request: Request, work: Callable[[], T]) -> T:
        """Wait for the turn of `work` and return what it returns; forget it when the client leaves."""
        if self._inside > self.waiting:
            raise BusyError(f"{self._inside} answers are being computed already: try again in a moment")
        self._inside += 1
        future = self._pool.submit(work)
        waited = asyncio.wrap_future(future)
        try:
            while not (await asyncio.wait({waited}, timeout=LOOK_AROUND))[0]:
                if await request.is_disconnected() and future.cancel():
                    raise GoneError("the client has left")
            return waited.result()
        finally:
            self._inside -= 1

    def close(self) -> None:
        """Drop what waits, at the end of the page."""
        self._pool.shutdown(wait=False, cancel_futures=True)
