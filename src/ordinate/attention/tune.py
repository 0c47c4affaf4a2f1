"""Measuring what the paths of attention cost on this machine; what the numbers mean is in costs.py."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from ordinate.attention.classes import blocked_attention, dense_attention, slots_and_runs, sparse_attention
from ordinate.attention.costs import Costs
from ordinate.attention.tables import CPU, blocked_tables
from ordinate.relations.pattern import Pattern

BATCHES = (8, 4, 16), (1, 8, 64)
"""Samples, heads and numbers of a head that are measured: many small rows, and few large ones."""
UNIT = 512
"""Tokens of the dense attention that is the unit."""
SPARSE = (128, 2), (256, 8), (512, 3), (512, 32), (1024, 16), (1024, 48)
BLOCKED = (256, 32), (512, 32), (512, 128), (512, 384), (1024, 64), (1024, 256)
"""Tokens, and keys of a query."""


class Measured(NamedTuple):
    """One pattern on one path: what the path has to do for each query, and the columns that it took."""

    parts: tuple[float, ...]
    columns: float


def measured(seconds: float = 0.2, tell: Callable[[str], None] = lambda line: None) -> Costs:
    """Measure with one thread, for so many seconds of every pattern; forward and backward, float32.

    Of each path the numbers that reproduce its times best, and of many small and few large rows the mean.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        found = []
        for batch in BATCHES:
            tell("{} samples of {} heads of {}".format(*batch))
            found.append(_of_batch(batch, seconds))
    finally:
        torch.set_num_threads(before)
    return Costs(*(round(sum(numbers) / len(numbers), 3) for numbers in zip(*found, strict=True)))


def _of_batch(batch: tuple[int, int, int], seconds: float) -> list[float]:
    unit = _seconds(dense_attention, near(UNIT, 64), batch, seconds) / UNIT
    sparse, blocked = [], []
    for tokens, keys in SPARSE:
        pattern = near(tokens, keys)
        slots, runs = slots_and_runs(pattern)
        took = _seconds(sparse_attention, pattern, batch, seconds) / unit
        sparse.append(Measured((1.0, slots / tokens, runs / tokens), took))
    for tokens, keys in BLOCKED:
        pattern = near(tokens, keys)
        tables = blocked_tables(pattern, CPU)
        assert tables is not None  # a window
        took = _seconds(blocked_attention, pattern, batch, seconds) / unit
        blocked.append(Measured((tables.pairs / tokens, len(tables.blocks) / tokens), took))
    return [*fitted(sparse), *fitted(blocked)]


def fitted(found: list[Measured]) -> list[float]:
    """Costs of the parts, none below 0, with the least squares of relative errors.

    >>> fitted([Measured((1.0, n, m), 10 + 2 * n + 30 * m) for n, m in ((1, 0), (3, 1), (9, 2), (2, 4))])
    [10.0, 2.0, 30.0]
    """
    parts = torch.tensor([one.parts for one in found], dtype=torch.float64)
    columns = torch.tensor([one.columns for one in found], dtype=torch.float64)
    relative, best, least = parts / columns[:, None], torch.zeros(parts.shape[1]), float("inf")
    for chosen in _some_of(parts.shape[1]):
        costs = torch.zeros(parts.shape[1], dtype=torch.float64)
        ones = torch.ones(len(found), 1, dtype=torch.float64)
        costs[chosen] = torch.linalg.lstsq(relative[:, chosen], ones).solution[:, 0]
        error = float((relative @ costs - 1).square().sum())
        if bool((costs >= 0).all()) and error < least:
            best, least = costs, error
    return [round(cost, 3) for cost in best.tolist()]


def _some_of(count: int) -> Iterator[list[int]]:
    """Every choice of some of so many."""
    for bits in range(1, 2**count):
        yield [n for n in range(count) if bits >> n & 1]


def near(tokens: int, keys: int) -> Pattern:
    """Each query attends to itself and to the tokens before it, `keys` in all, a class for each."""
    query, back = torch.arange(tokens).repeat_interleave(keys), torch.arange(keys).repeat(tokens)
    there = query >= back
    query, back = query[there], back[there]
    return Pattern(tokens, keys, query, query - back, back, (0, tokens))


def _seconds(
    attend: Callable[..., Tensor], pattern: Pattern, batch: tuple[int, int, int], most: float
) -> float:
    """Of a query of a row, the shortest of what fits into the time: others on the machine only make it longer."""
    samples, heads, dim = batch
    leaves = [torch.randn(samples, heads, pattern.tokens, dim, requires_grad=True) for _ in range(3)]
    vectors = torch.randn(1, pattern.classes, dim, requires_grad=True)

    def call() -> float:
        began = time.process_time()  # not the time of the wall, in which others run
        out = attend(*leaves, pattern, vectors=vectors, scale=dim**-0.5)
        torch.autograd.grad(out, [*leaves, vectors], torch.ones_like(out))
        return time.process_time() - began

    call()
    took, end = [call()], time.perf_counter() + most
    while time.perf_counter() < end or len(took) < 3:
        took.append(call())
    return min(took) / (samples * heads * pattern.tokens)
