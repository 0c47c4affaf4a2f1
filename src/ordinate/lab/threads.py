"""How this process computes: the threads of PyTorch, and memory that is kept."""

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Compute with that many threads inside the block.

    >>> with threads(1):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3


def keep_freed_memory() -> bool:
    """Tell the C library to keep freed blocks for the next step; return whether it could be told.

    A training step allocates and frees the same activations of several megabytes again and again. glibc takes
    such blocks from the system and gives them back each time, and the system clears every page again: 10 to
    15 % of a step. With both thresholds raised the blocks stay in the process, which then never shrinks:
    right for a worker that trains and ends, wrong for a server. Elsewhere than on glibc this does nothing.

    >>> keep_freed_memory() in (True, False)
    True
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 (only glibc has it)
        mallopt = library.mallopt
    except (OSError, AttributeError):
        return False
    mallopt.argtypes = [ctypes.c_int, ctypes.c_int]
    mallopt.restype = ctypes.c_int
    # Older versions of glibc refuse a threshold above 32 MiB and say so by returning 0.
    raised = mallopt(_MMAP_THRESHOLD, 1 << 30) or mallopt(_MMAP_THRESHOLD, 1 << 25)
    return bool(raised) and bool(mallopt(_TRIM_THRESHOLD, 2**31 - 1))
