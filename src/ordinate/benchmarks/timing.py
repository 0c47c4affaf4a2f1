"""Timing on a shared machine: sides take turns in short slices, so that noise meets both; medians count."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import torch


def alternate(repeats: int, *sides: Callable[[], float]) -> list[float]:
    """Call the sides in turn, A B A B ..., and return the median of what each returned.

    >>> turns = iter([1.0, 10.0, 3.0, 30.0, 2.0, 20.0])
    >>> alternate(3, lambda: next(turns), lambda: next(turns))
    [2.0, 20.0]
    """
    slices = [[side() for side in sides] for _ in range(repeats)]
    return [median(values) for values in zip(*slices, strict=True)]


def seconds_of(call: Callable[[], object]) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Compute with that many threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def matmul_rate(size: int, dtype: torch.dtype = torch.float32) -> float:
    """Floating-point operations per second of one product of square matrices, 2 size^3 of them."""
    a, b = torch.ones(size, size, dtype=dtype), torch.ones(size, size, dtype=dtype)
    a @ b
    return 2.0 * size**3 / seconds_of(lambda: a @ b)
