"""One trainer a run: a lock that the system releases when its holder dies."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from ordinate.errors import OrdinateError
from ordinate.lab.runs.files import Pathish

try:
    import fcntl
except ImportError:  # pragma: no cover (Windows)
    fcntl = None  # type: ignore[assignment]


ATTEMPTS = 5


@contextlib.contextmanager
def exclusive(path: Pathish) -> Iterator[None]:
    """Hold the lock file `path`; refuse at once when another process holds it.

    The file stays when the lock is released: removing it would let two processes lock two files of one name.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise OrdinateError(f"cannot lock {path}: {(error.strerror or str(error)).lower()}") from error
    try:
        if not _take_soon(handle):
            holder = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
            raise OrdinateError(
                f"another process is training this run (pid {holder}): wait for it or stop it ({path.parent})"
            )
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        try:
            yield
        finally:
            os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def held(path: Pathish) -> bool:
    """Whether a process holds the lock file `path`."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _take(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def in_turn(folder: Pathish) -> Iterator[None]:
    """Wait for, then hold, the short lock on a folder that orders its writers, where the system has one."""
    handle = None
    if fcntl is not None:
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _take_soon(handle: int) -> bool:
    """Lock the open file; whoever only looks whether it is held lets go of it at once."""
    for _ in range(ATTEMPTS - 1):
        if _take(handle):
            return True
        time.sleep(0.01)
    return _take(handle)


def _take(handle: int) -> bool:
    """Lock the open file without waiting; False when somebody else has it."""
    if fcntl is None:  # pragma: no cover (Windows)
        return _take_windows(handle)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: better to train unguarded than not at all
        return True
    return True


def _take_windows(handle: int) -> bool:  # pragma: no cover (Windows)
    """Lock one byte far behind the pid, so that others can still read who holds the lock."""
    try:
        import msvcrt
    except ImportError:
        return True
    os.lseek(handle, 1 << 20, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
    return True
