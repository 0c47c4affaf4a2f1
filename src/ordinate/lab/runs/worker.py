"""Inside a worker: one job, one process, messages through one pipe.

Messages are pickled here and sent as bytes. The pickler that `Connection.send` uses would hand tensors over
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
from collections.abc import Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from typing import Any, NoReturn

from ordinate.errors import OrdinateError
from ordinate.lab.plugins import load

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

    from ordinate.lab.runs.memory import keep_freed_memory

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
