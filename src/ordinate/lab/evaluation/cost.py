"""What a call costs: operations of its matrix products, the most memory that it holds at once, and time."""

import os
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

Call = Callable[[], object]


def operations(call: Call) -> int:
    """Operations of all matrix products in a call, two for each multiplication and addition.

    >>> a, b = torch.ones(2, 3), torch.ones(3, 5)
    >>> operations(lambda: a @ b)
    60
    """
    with FlopCounterMode(display=False, custom_mapping={torch.ops.aten.baddbmm_: _added_product}) as counter:
        call()
    return int(counter.get_total_flops())


def _added_product(added: Any, a: Any, b: Any, *_: Any, **__: Any) -> int:
    """The in-place product that PyTorch's counter does not know: [k, n, m] x [k, m, p]."""
    k, n, m = a
    return int(2 * k * n * m * b[-1])


def peak_bytes(call: Call) -> int:
    """The most that a call holds at once, beyond what was there before."""
    call()
    os.environ.setdefault(
        "KINETO_LOG_LEVEL", "99"
    )  # else the profiler writes a line when it starts and stops
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    results = getattr(profiler.profiler, "kineto_results")  # noqa: B009 (mypy does not know it)
    changes = [event for event in results.events() if event.name() == "[memory]"]
    live = most = 0
    for event in sorted(changes, key=lambda event: event.start_ns()):
        live += event.nbytes()
        most = max(most, live)
    return int(most)


def seconds_of(call: Call) -> float:
    """How long one call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def alternate(repeats: int, *sides: Callable[[], float]) -> list[float]:
    """Call the sides in turn, A B A B ..., and return the median of what each returned: noise meets all of them.

    >>> turns = iter([1.0, 10.0, 3.0, 30.0, 2.0, 20.0])
    >>> alternate(3, lambda: next(turns), lambda: next(turns))
    [2.0, 20.0]
    """
    slices = [[side() for side in sides] for _ in range(repeats)]
    return [median(values) for values in zip(*slices, strict=True)]
