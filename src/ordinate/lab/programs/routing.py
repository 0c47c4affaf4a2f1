"""Routing: static permutations through a Benes network, and messages whose addresses are data.

**Static.** A permutation that is known beforehand is one pattern of attention, one layer. `benes` routes it the way the
proof of arXiv 2410.01686 does: 2 ceil(log2 n) - 1 stages in which a processor hears itself or one fixed partner, with
switches set off-line by the looping algorithm (Opferman and Tsao-Wu 1971). It costs that many layers.

**Data-dependent.** Where addresses are data nobody can set switches beforehand, so messages route themselves by
sorting. Each processor holds two items, a record and a request. All 2n are sorted by key, so that requests stand behind
the record that they ask for; a scan copies its words to them; sorting by who asked brings them back. With
k = ceil(log2 2n) this takes two sorts of k (k + 1) / 2 stages and k steps of a scan:

    rounds  k (k + 1) + k,        layers  rounds + a few,

since a stage is one layer deep for keys, and the words that travel with them follow one layer behind. The theorem
counts 2 ceil(log2 N) layers for such a round, and leaves open how its switches come to know the addresses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from ordinate.lab.programs.collection.sorting import Stage, bitonic
from ordinate.lab.programs.language import Range, Value, powers, receive, select
from ordinate.lab.programs.language.ranges import refuse

# Static permutations.


@dataclass(frozen=True)
class Switches:
    """One stage: processors whose positions differ by `step` in one bit; `cross` is equal for both."""

    step: int
    cross: Bool[np.ndarray, " n"]


def benes_switches(order: Sequence[int]) -> list[Switches]:
    """Settings of a Benes network that brings the value of processor order[i] to processor i.

    The outer stages join i and i + n/2; the halves between them are Benes networks themselves. Of two inputs that share
    a switch one goes to each half, and so does one of two outputs: following these two rules in turn closes loops, each
    of which is coloured alternately.

    >>> (stage,) = benes_switches([1, 0])
    >>> stage.step, stage.cross.tolist()
    (1, [True, True])
    """
    n = len(order)
    if n & (n - 1) or sorted(order) != list(range(n)):
        refuse(
            f"a Benes network needs a permutation of a power of two processors, got {n}: write permute instead"
        )
    if n == 1:
        return []
    if n == 2:
        return [Switches(1, np.full(2, order[0] == 1))]
    half = n // 2
    to = _halves(order)
    first = np.array([to[i] != (i >= half) for i in range(n)])
    last = np.array([to[order[j]] != (j >= half) for j in range(n)])
    inner = []
    for side in range(2):
        ends = [j if to[order[j]] == side else j + half for j in range(half)]
        inner.append(benes_switches([order[j] % half for j in ends]))
    middle = [
        Switches(low.step, np.concatenate([low.cross, high.cross])) for low, high in zip(*inner, strict=True)
    ]
    return [Switches(half, first), *middle, Switches(half, last)]


def _halves(order: Sequence[int]) -> list[int]:
    """Which half of the network every input goes through: the looping algorithm."""
    n, half = len(order), len(order) // 2
    place = {source: j for j, source in enumerate(order)}
    to = [-1] * n
    for start in range(n):
        i = start
        while to[i] < 0:
            to[i] = 0
            twin = order[(place[i] + half) % n]  # shares the output switch: the other half
            to[twin] = 1
            i = (twin + half) % n  # shares twin's input switch: the first half again
    return to


def benes(value: Value, order: Sequence[int]) -> Value:
    """Processor i gets the value of processor order[i], through 2 log2 n - 1 stages of a Benes network."""
    place = np.arange(value.n)
    for switches in benes_switches(order):
        value = receive(value, np.where(switches.cross, place ^ switches.step, place))
    return value


# Addresses that are data.

Items = list[list[Value]]
"""Words of 2n items, by slot and word, keys first: item p < n is the first of processor p, item n + p its second."""


def fetch(values: Sequence[Value], address: Value) -> list[Value]:
    """The values of the processor that each address names; many may read one (concurrent reads).

    Keys are 2i for the record of processor i and 2a + 1 for a request to processor a.
    """
    n = address.n
    own = address.constant(lambda i: i) + 0 * address  # sent when the address is there, not before
    asked = address.within(Range(0, n - 1, whole=True))
    blank = [0 * value for value in values]
    records = [2 * own, own + n, 0 * own + 1, *values]
    requests = [2 * asked + 1, own, 0 * own, *blank]
    _, back, *words = zip(*_sort([records, requests]), strict=True)
    copied = _copy_forward([list(item) for item in zip(*words, strict=True)])
    home = _sort([[key, *item[1:]] for key, item in zip(back, copied, strict=True)])
    return home[0][1:]


def send(value: Value, to: Value, default: int = 0) -> Value:
    """What was sent to each processor; the default where nothing was. Address n is nowhere.

    Keys are 2i for the place of processor i and 2a + 1 for a message to processor a: a place looks at the item behind
    it. Of several messages to one processor it gets one.
    """
    n = value.n
    own = value.constant(lambda i: i) + 0 * to  # sent when the address is there, not before
    address = to.within(Range(0, n, whole=True))
    places = [2 * own, own, 0 * value + default]
    messages = [2 * address + 1, own + n, value]
    items = _sort([places, messages])
    behind = _from_items(items, [p + 1 if p + 1 < 2 * n else p for p in range(2 * n)])
    found = []
    for (key, back, word), (other_key, _, other) in zip(items, behind, strict=True):
        found.append([back, select(other_key - key == 1, other, word)])
    return _sort(found)[0][1]


def _from_items(items: Items, source: Sequence[int]) -> Items:
    """Item p gets the words of item source[p]: one receive from each of the two slots, of which one brings nothing."""
    n = items[0][0].n
    wanted: Int[np.ndarray, " item"] = np.array(source)
    return [
        [
            receive(first, np.where(asked < n, asked, -1)).either(
                receive(second, np.where(asked >= n, asked - n, -1))
            )
            for first, second in zip(*items, strict=True)
        ]
        for asked in (wanted[:n], wanted[n:])
    ]


def _sort(items: Items) -> Items:
    """Sort 2n items by their first word: a bitonic network whose comparisons move all words."""
    for stage in bitonic(2 * items[0][0].n):
        items = _exchange(items, stage)
    return items


def _exchange(items: Items, stage: Stage) -> Items:
    """One stage: the lower of a pair takes its partner's words if its key is larger, the higher if it is smaller."""
    size = 2 * items[0][0].n
    above, below = list(range(size)), list(range(size))
    for low, high in stage:
        above[low], below[high] = high, low
    partner = [a if a != p else b for p, (a, b) in enumerate(zip(above, below, strict=True))]
    keys, words = [item[:1] for item in items], [item[1:] for item in items]
    ups, downs, theirs = _from_items(keys, above), _from_items(keys, below), _from_items(words, partner)
    found = []
    for (key,), (up,), (down,), mine, other in zip(keys, ups, downs, words, theirs, strict=True):
        swap = (key > up).either(down > key)
        found.append(
            [key.exchange(up, down), *(select(swap, b, a) for a, b in zip(mine, other, strict=True))]
        )
    return found


def _copy_forward(items: Items) -> Items:
    """Every item gets the words of the last item at or before it whose first word is 1: a scan of 2n items."""
    size = 2 * items[0][0].n
    for step in powers(size):
        before = _from_items(items, [p - step if p >= step else p for p in range(size)])
        items = [
            [mine[0] | theirs[0], *(select(mine[0], a, b) for a, b in zip(mine[1:], theirs[1:], strict=True))]
            for mine, theirs in zip(items, before, strict=True)
        ]
    return items
