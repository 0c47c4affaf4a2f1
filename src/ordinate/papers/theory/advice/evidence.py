"""What samples say of a memory: how an influence falls with the lag, and whether tokens decide which tokens count.

Whether tokens decide has three views, for three kinds of dependence:

- `nesting`: few tokens count in all. A token selects where, of two of its values, each makes tokens count that the
  other does not: with y = x_1 if x_0 else x_2, x_0 selects. An AND does not: its tokens stop to count together. Below
  each value the same question is asked again, and the deepest answer is the number of nested selections.
- `searches`: any token may count, few do in one sample. A token selects where resampling it moves the tokens that
  matter strongly (nearly every other value of theirs changes the answer) to others.
- `chosen_by_rest`: tokens that cannot be resampled alone, such as text, decide which of the others count.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy import ndarray
from torch import Tensor

from ordinate.lab.tasks.batch import Batch
from ordinate.papers.theory.advice.probe import Probe, difference, redrawn

FEWEST = 3
"""Lags that a fit needs."""
HALF = 0.5
"""Of the lags from the first to the last: with fewer they are single memories."""
LEAST_FALL = 3.0
"""First over last influence, below which nothing falls."""
EXPLAINED = 0.9
"""Of the variance of the logarithms."""
SAME = 0.3
"""By how much rates of two lengths may differ."""
GONE = 1e4
"""First over last influence, from which on it falls however it does."""


@dataclass(frozen=True)
class Fall:
    """influence(s) ~ e^(-rate s) or s^-rate, whichever is nearer."""

    tail: str
    """exponential or polynomial."""
    rate: float
    left: float
    """Mean squared error of the logarithms."""
    other: float
    """That of the other tail."""
    lags: int
    over: float
    """First over last influence."""

    def agrees(self, other: "Fall | None") -> bool:
        """Whether it is the same fall at another length, as it must be to be one over lags; or ends before either."""
        if self.over >= GONE:
            return True
        return (
            other is not None and other.tail == self.tail and abs(other.rate - self.rate) < SAME * self.rate
        )


def find_fall(influence: Mapping[int, float]) -> Fall | None:
    """The fall of an influence from its peak on, lag 0 left aside; None where it does not fall.

    What falls is the largest influence from a lag on, so that a wavelet, which is 0 in between, falls too.

    >>> find_fall({s: 2.0 * s**-0.5 for s in range(1, 20)}).tail
    'polynomial'
    >>> round(find_fall({s: math.exp(-2 * s) for s in range(6)}).rate, 3)
    2.0
    >>> find_fall(dict.fromkeys(range(9), 1.0)) is None
    True
    """
    there = {lag: size for lag, size in sorted(influence.items()) if lag > 0 and size > 0}
    if not there:
        return None
    peak = max(there, key=lambda lag: there[lag])
    lags = [lag for lag in there if lag >= peak]
    if len(lags) < FEWEST or there[lags[0]] < LEAST_FALL * there[lags[-1]]:
        return None
    if len(lags) < HALF * (lags[-1] - lags[0] + 1):
        return None
    logs = np.log(np.maximum.accumulate([there[lag] for lag in reversed(lags)])[::-1])
    fits = {"exponential": np.array(lags, dtype=np.float64), "polynomial": np.log(lags)}
    found = {tail: _line(x, logs) for tail, x in fits.items()}
    tail = min(found, key=lambda name: found[name][1])
    slope, left = found[tail]
    if left > (1 - EXPLAINED) * float(logs.var()) and logs[0] - logs[-1] < math.log(GONE):
        return None
    other = next(error for name, (_, error) in found.items() if name != tail)
    return Fall(tail, -slope, left, other, len(lags), float(np.exp(logs[0] - logs[-1])))


def _line(x: Float[ndarray, " lag"], y: Float[ndarray, " lag"]) -> tuple[float, float]:
    """Slope and mean squared error of the best line."""
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    left = y - y.mean() - slope * centred
    return slope, float((left**2).mean()) if math.isfinite(slope) else math.inf


DEEPEST = 6
EXPECTED = 12
"""Samples in which a token should have counted, and did in none, for it not to count."""
STRONG = 0.6
"""Of the redraws with another value that change the answer."""
SAMPLES = 48
"""Samples of the slower views."""
OFTEN = 0.25
"""Of the samples in which a selection must show."""


def incomparable(one: frozenset[int], other: frozenset[int]) -> bool:
    """Whether each holds what the other does not.

    >>> incomparable(frozenset({1}), frozenset({2})), incomparable(frozenset({1}), frozenset({1, 2}))
    (True, False)
    """
    return bool(one - other) and bool(other - one)


def nesting(probe: Probe) -> tuple[int, int]:
    """Nested selections, and the most tokens that count below any of them (all of them where nothing selects).

    >>> from ordinate.lab.tasks import make_task
    >>> from ordinate.papers.theory.advice.probe import draw_probe
    >>> task = make_task("adaptive-memory", length=8, nesting=1, within=(1, 6), index={"kind": "drawn"})
    >>> nesting(draw_probe(task, 8, 0))
    (2, 3)
    """
    keys = len(probe.used)
    if probe.classes is None:
        return 0, keys
    columns = [column for column, lag in enumerate(probe.lags) if lag in probe.used]
    everything = torch.ones(len(probe.classes), dtype=torch.bool)
    present, classes = probe.changes.present[:, columns], probe.classes[:, columns]
    return _below(present, classes, everything, frozenset(range(keys)), 0)


def _below(
    present: Bool[Tensor, "sample key"],
    classes: Int[Tensor, "sample key"],
    inside: Bool[Tensor, " sample"],
    open_keys: frozenset[int],
    depth: int,
) -> tuple[int, int]:
    """Selections and tokens of the samples inside a context, over keys that it has not fixed."""
    there = frozenset(key for key in open_keys if present[inside, key].any())
    if depth == DEEPEST:
        return 0, len(there)
    best: tuple[int, int] | None = None
    for key in sorted(there):
        rest = sorted(there - {key})
        parts = [inside & (classes[:, key] == value) for value in classes[inside, key].unique()]
        counts = torch.stack([present[part][:, rest].sum(0) for part in parts])
        if not _selects(counts, torch.stack([part.sum() for part in parts])):
            continue
        below = [_below(present, classes, part, open_keys - {key}, depth + 1) for part in parts]
        found = 1 + max(levels for levels, _ in below), 1 + max(tokens for _, tokens in below)
        # The first token to read is the one that leaves the least to read.
        best = found if best is None else min(best, found)
    return (0, len(there)) if best is None else best


def _selects(counts: Int[Tensor, "value key"], samples: Int[Tensor, " value"]) -> bool:
    """Whether, of two values, each has a token that counts in some samples, and should in the other's, but does not.

    >>> _selects(torch.tensor([[50, 0], [0, 50]]), torch.tensor([100, 100]))
    True
    >>> _selects(torch.tensor([[50, 50], [0, 0]]), torch.tensor([100, 100]))
    False
    """
    rates = counts / samples[:, None].clamp(min=1)
    lacks = (counts == 0)[None] & (rates[:, None] * samples[None, :, None] >= EXPECTED)
    ahead = lacks.any(-1)
    return bool((ahead & ahead.T).any())


def searches(probe: Probe, seed: int = 0) -> tuple[float, float]:
    """How often any token selects, and how many do in a sample, of ten samples the one with the second most."""
    generator = torch.Generator().manual_seed(seed)
    task, batch, keys = probe.task, probe.batch, probe.keys
    rows = torch.arange(min(SAMPLES, len(batch.input)))
    strong = probe.changes.share[rows] >= STRONG
    pairs = strong.nonzero()
    if not len(pairs):
        return 0.0, 0.0
    inputs = batch.input[pairs[:, 0]].clone()
    whole = Batch(inputs, batch.target[pairs[:, 0]], batch.coordinates)
    for column, key in enumerate(keys):
        chosen = pairs[:, 1] == column
        if chosen.any():
            inputs[chosen] = task.redraw(whole, key, generator)[chosen]
    moved = Batch(inputs, task.reference(inputs, batch.coordinates), batch.coordinates)
    after = redrawn(task, moved, probe.answer, keys, 4, generator).share >= STRONG
    before = strong[pairs[:, 0]]
    one = torch.arange(len(pairs))
    before[one, pairs[:, 1]] = after[one, pairs[:, 1]] = False
    selects = (before & ~after).any(1) & (after & ~before).any(1)
    count = torch.zeros(len(rows)).index_add_(0, pairs[:, 0], selects.float())
    return float((count > 0).float().mean()), float(count.quantile(0.9))


def chosen_by_rest(probe: Probe, seed: int = 0) -> bool:
    """Whether tokens that are not free decide which of the free ones count."""
    task, batch, keys = probe.task, probe.batch, probe.keys
    rest = [token for token in range(len(batch.coordinates)) if token not in set(keys)]
    if not rest or bool((batch.input[:, rest] == batch.input[:1, rest]).all()):
        return False
    generator = torch.Generator().manual_seed(seed)
    rows = torch.arange(min(SAMPLES, len(batch.input))).repeat(SAMPLES)
    inputs = batch.input[rows]
    for key in keys:
        inputs = task.redraw(Batch(inputs, batch.target[rows], batch.coordinates), key, generator)
    others = Batch(inputs, task.reference(inputs, batch.coordinates), batch.coordinates)
    counts = torch.zeros(int(rows.max()) + 1, len(keys))
    for column, key in enumerate(keys):
        after = task.reference(task.redraw(others, key, generator), batch.coordinates)
        apart = difference(task, others.target, after, batch.coordinates)[:, probe.answer] > 0
        counts[:, column].index_add_(0, rows, apart.float())
    sets = [frozenset(row.nonzero().flatten().tolist()) for row in counts > 0]
    pairs = list(combinations(sets, 2))
    return sum(incomparable(a, b) for a, b in pairs) >= OFTEN * len(pairs)
