"""The kind of memory of a task, as arXiv 2402.00522 sorts them, measured from samples.

    fixed               few lags, the same in every sample                          class I
    adaptive            few tokens in a sample, and tokens decide which             class II
    essentially sparse  any lag, with an influence that falls                       class III
    dense               any lag, with an influence that does not fall               none of them

Two lengths are compared: what grows with the length is not few.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import torch
from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.base import Task
from ordinate.papers.theory.advice.evidence import OFTEN, Fall, chosen_by_rest, find_fall, nesting, searches
from ordinate.papers.theory.advice.probe import Lag, Probe, Report, difference, draw_probe

FIXED, ADAPTIVE, SPARSE, DENSE = KINDS = ("fixed", "adaptive", "essentially sparse", "dense")
SHORT = 16
"""Tokens of the shorter of both lengths, for tasks that train on longer ones and can be shorter."""
GROWS = 0.25
"""Share of the tokens that a longer sequence adds: above it the number of tokens that count grows with the length."""
MANY = 0.5
"""Share of the tokens in one sample above which those that count are not few."""
MORE = 1.4
"""Times as many tokens in one sample, at twice the length."""
NEARLY_ALL = 0.75
"""For a task of one length: the share of its tokens from which on any token may count."""
CLOSER = 2**15
"""Samples x tokens of a closer look."""
SEEN = 10
"""Changes from which on a mean influence is believed."""
PAIRS = 16
"""Pairs of tokens that are resampled together."""


@dataclass(frozen=True)
class Memory:
    """What was measured."""

    kind: str
    field: str
    """Of the answer that was probed."""
    lags: tuple[Lag, ...]
    """That any sample depends on, at the longer length."""
    lengths: tuple[int, ...]
    keys: tuple[int, ...]
    """Tokens that can be resampled, at each length."""
    used: tuple[int, ...]
    """Of these, the ones that any sample depends on."""
    sizes: tuple[float, ...]
    """Of these, the ones that one sample depends on, in the mean."""
    levels: int
    """Nested selections: 0 unless adaptive."""
    memories: int
    """Tokens that one sample needs, at most; sums that one needs, one a field, where it is essentially sparse."""
    values: int | None
    """Different values of a token; None where they are many."""
    searched: bool
    """Whether tokens are found by a search over all, not at a lag computed from few."""
    fall: Fall | None
    additive: bool
    """Whether tokens act on the answer each by itself."""
    backward: bool
    """Whether nothing ahead of the answer counts."""
    samples: int

    @property
    def summary(self) -> str:
        """What was measured, in a line."""
        lengths = " and ".join(map(str, self.lengths))
        used = " and ".join(f"{used} of {keys}" for used, keys in zip(self.used, self.keys, strict=True))
        sizes = " and ".join(f"{size:.1f}" for size in self.sizes)
        return (
            f"at length {lengths}: {used} tokens ever count, {sizes} in one sample, in the mean; "
            f"{self.samples} samples, every token replaced by another draw"
        )

    def to_dict(self) -> dict[str, Any]:
        """Stable keys for JSON."""
        facts: dict[str, Any] = to_jsonable_python(self)
        return facts


def find_memory(task: Task, *, seed: int = 0, report: Report | None = None) -> Memory:
    """Measure which kind of memory a task has.

    >>> from ordinate.lab.tasks import make_task
    >>> found = find_memory(make_task("fixed-memory"))
    >>> found.kind, found.lags
    ('fixed', (('token', 2), ('token', 5)))
    """
    sized = both_lengths(task.tested())
    probes = []
    for number, (one, length) in enumerate(sized):

        def tell(done: int, total: int, before: int = number) -> None:
            if report is not None:
                report(before * total + done, len(sized) * total)

        probes.append(draw_probe(one, length, seed, tell))
    return judge(probes, seed)


def both_lengths(task: Task) -> list[tuple[Task, int]]:
    """The task at two lengths, one twice the other; at its own alone where it has no other."""
    trained = max(task.lengths())
    choices = [(SHORT, 2 * SHORT)] if trained > SHORT else []
    for pair in [*choices, (trained, 2 * trained)]:
        found = [_at(task, length) for length in pair]
        if all(one is not None for one in found):
            return [(one, length) for one, length in zip(found, pair, strict=True) if one is not None]
    return [(task, trained)]


def _at(task: Task, length: int) -> Task | None:
    """The task where it can have this length: as an axis, or as an option that makes it another task."""
    try:
        if "length" in task.axes:
            task.sample(1, generator=torch.Generator().manual_seed(0), length=length)
            return task
        if "length" in type(task).model_fields:
            return type(task)(**{**dict(task), "length": length})
    except (OrdinateError, ValidationError):
        return None
    return None


def judge(probes: list[Probe], seed: int) -> Memory:
    """The kind of memory that probes of one or two lengths show."""
    probe = probes[-1]
    used = [sum(lag in p.used for lag in p.lags) for p in probes]
    sizes = [p.size for p in probes]
    keys = [len(p.keys) for p in probes]
    spread, filled = _grows(used, keys), _fills(sizes, keys)
    falls, levels, searched, memories = fall_of(probe), 0, False, used[-1]
    if falls is not None and len(probes) > 1 and not falls.agrees(fall_of(probes[0])):
        falls = None
    kind = DENSE
    if chosen_by_rest(probe, seed):
        kind, levels, searched, memories = ADAPTIVE, 1, True, round(sizes[-1])
    elif not spread:
        closer = look_closer(probe, seed)
        falls = fall_of(closer)
        levels, memories = nesting(closer)
        kind = ADAPTIVE if levels else SPARSE if falls else FIXED
    elif filled:
        kind = SPARSE if falls else DENSE
    else:
        often, selecting = searches(probe, seed)
        if often >= OFTEN or falls is None:
            # Any token may count, and few do. A match has two sides, what looks and what is found: both select.
            kind, levels, searched = ADAPTIVE, max(1, round(selecting / 2)), True
            memories = round(sizes[-1])
        else:
            kind = SPARSE
    if kind == SPARSE:
        memories = len({field for field, _ in probe.used})
    coordinates = probe.batch.coordinates
    return Memory(
        kind=kind,
        field=coordinates.fields[coordinates.field[probe.answer]],
        lags=tuple(sorted(probe.used, key=lambda lag: (lag[0], abs(lag[1]), lag[1]))),
        lengths=tuple(p.length for p in probes),
        keys=tuple(keys),
        used=tuple(used),
        sizes=tuple(sizes),
        levels=levels,
        memories=memories,
        values=probe.values,
        searched=searched,
        fall=falls if kind == SPARSE else None,
        additive=is_additive(probe, seed),
        backward=all(lag >= 0 for _, lag in probe.used),
        samples=len(probe.batch.input),
    )


def look_closer(probe: Probe, seed: int) -> Probe:
    """The same answer in more samples, for the tokens that count, and the next ones, which may count rarely."""
    near = {(field, lag + step) for field, lag in probe.used for step in (0, 1, 2)}
    keys = tuple(key for key, lag in zip(probe.keys, probe.lags, strict=True) if lag in near)
    if not keys:
        return probe
    return draw_probe(
        probe.task, probe.length, seed + 1, keys=keys, answer=probe.answer, count=CLOSER // len(keys)
    )


def _grows(counts: list[int] | list[float], keys: list[int]) -> bool:
    """Whether a number of tokens grows with the length; for one length, whether it is nearly all of them."""
    if len(keys) == 1:
        return counts[0] >= NEARLY_ALL * keys[0]
    return counts[1] - counts[0] >= GROWS * (keys[1] - keys[0])


def _fills(sizes: list[float], keys: list[int]) -> bool:
    """Whether the tokens that one sample depends on are many, or become more with the length."""
    if any(size >= MANY * tokens for size, tokens in zip(sizes, keys, strict=True)):
        return True
    return len(keys) > 1 and sizes[1] >= MORE * sizes[0]


def fall_of(probe: Probe) -> Fall | None:
    """How the influence falls, in the field that has the most lags."""
    fields: dict[str, dict[int, float]] = defaultdict(dict)
    often = probe.changes.changed.sum(0) >= SEEN
    for (field, lag), mean, kept in zip(probe.lags, probe.changes.mean.tolist(), often.tolist(), strict=True):
        if kept:
            fields[field][lag] = mean
    return find_fall(max(fields.values(), key=len)) if fields else None


def is_additive(probe: Probe, seed: int) -> bool:
    """Whether two tokens change the answer by the sum of what each does alone, for pairs that count."""
    task, batch, coordinates = probe.task, probe.batch, probe.batch.coordinates
    if not batch.target.is_floating_point():
        return False
    generator = torch.Generator().manual_seed(seed)
    columns = [key for key, lag in zip(probe.keys, probe.lags, strict=True) if lag in probe.used]
    if len(columns) < 2:
        columns = columns * 2
    for pair in torch.randint(len(columns), (min(PAIRS, len(columns) ** 2), 2), generator=generator).tolist():
        first, second = columns[pair[0]], columns[pair[1]]
        one, other = (task.redraw(batch, key, generator) for key in (first, second))
        both = one.clone()
        both[:, second] = other[:, second]
        if first == second:
            continue
        answers = [task.reference(x, coordinates) for x in (one, other, both)]
        expected = answers[0] + answers[1] - batch.target
        if (difference(task, expected, answers[2], coordinates)[:, probe.answer] > 0).any():
            return False
    return True
