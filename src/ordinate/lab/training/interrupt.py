"""Ctrl-C and SIGTERM, held back while a step is taken: training stops between two steps, with its state saved."""

import contextlib
import signal
import threading
from types import FrameType, TracebackType
from typing import Any

STOPPING = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """Training was asked to stop and has saved its state; the text says at which step."""


class StopRequest:
    """Whether a signal has asked this process to stop; a second signal stops it at once.

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            with contextlib.suppress(TypeError):  # a handler that was not set from Python cannot be set again
                signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True
