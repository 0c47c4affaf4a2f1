"""Programs whose addresses are data: they route messages by sorting (`ordinate.lab.programs.routing`)."""

import numpy as np

from ordinate.lab.programs.language import (
    OWN,
    Range,
    Value,
    broadcast,
    clip,
    maximum,
    minimum,
    powers,
    select,
    shift,
)
from ordinate.lab.programs.program import Outputs, Program, Words
from ordinate.lab.programs.routing import fetch

LETTERS = 4
HOPS = 2
SYMBOLS = 11
"""Of k-hop: the hop count, or the ten letters 1 to 10; 0 among letters is one more."""
MOST_HOPS = 3
LONGEST = 256
"""Routing is deep: 800 layers for list ranking of so many processors."""


def list_ranking(successor: Value) -> Value:
    """How many steps each processor is from the end of its list; the end points to itself.

    Pointer jumping: a step of 2^k, and what was counted on it, is two steps of 2^(k-1).
    """
    rank = successor != successor.constant(lambda i: i)
    for _ in powers(successor.n):
        further, successor = fetch([rank, successor], successor)
        rank = rank + further
    return rank


def components(neighbour: Value) -> Value:
    """A name for the component of each processor in the graph that joins every i with its neighbour.

    With one neighbour each, a component has exactly one ring, which all walks from neighbour to neighbour end on; its
    least processor is the name. Pointer jumping gives 2^k >= n steps of every walk, and the least processor on them:
    after so many steps a walk is on the ring, and so many more see all of it.
    """
    least, to = neighbour.constant(lambda i: i), neighbour
    for _ in powers(neighbour.n):
        further, to = fetch([least, to], to)
        least = minimum(least, further)
    (name,) = fetch([least], to)
    return name


def last_after(x: Value, letters: range, behind: int = 0) -> Value:
    """find(i) = the largest j <= i with x_{j-1} = x_i and j > behind, 0 where there is none.

    For every letter a scan keeps the last place behind it; a processor reads the one of its own letter.
    """
    place = x.constant(lambda i: i if i > behind else 0)
    before = shift(x, 1, letters[0])
    found = []
    for letter in letters:
        last = select(before == letter, place, 0)
        for step in powers(x.n):
            last = maximum(last, shift(last, step, OWN))
        found.append(select(x == letter, last, 0))
    first, *others = found
    for other in others:
        first = first.either(other)
    return first


def two_hop(x: Value) -> Value:
    """hop_2(x)_i = x_{find(find(i))}, 0 where there is none: a 2-hop induction head over letters 1 to 4."""
    jump = pointer = last_after(x, range(1, LETTERS + 1))
    for _ in range(HOPS - 1):
        (pointer,) = fetch([jump], pointer)
    (letter,) = fetch([x.scaled(lambda i: float(i > 0))], pointer)
    return letter


def k_hop(x: Value) -> Value:
    """The letter k hops back, with k in data, as published: the first token says k, the others are letters.

    Processor 0 holds k, where more than 3 counts as 3; its answer is a blank, -2. A hop that finds nothing leads to
    processor 0, which all further hops stay at; the answer is then -1.
    """
    letter = Range(0, SYMBOLS - 1, whole=True)
    hops = clip(broadcast(x, 0), 0, MOST_HOPS)
    jump = last_after(x, range(SYMBOLS), behind=1).scaled(lambda i: float(i > 0))
    pointer = select(hops >= 1, jump, x.constant(lambda i: i))
    for done in range(2, MOST_HOPS + 1):
        (further,) = fetch([jump], pointer)
        pointer = select(hops >= done, further, pointer)
    (found,) = fetch([x], pointer)
    answer = select(pointer == 0, -1, found.within(letter))
    return answer.scaled(lambda i: float(i > 0)) + x.constant(lambda i: -2 if i == 0 else 0)


def _ranks(inputs: Words) -> Outputs:
    """Follow the pointers one by one, as many steps as jumping takes, and count those that move."""
    to = inputs[..., 0].astype(int)
    here = np.broadcast_to(np.arange(to.shape[1]), to.shape)
    rank = np.zeros(to.shape)
    for _ in range(1 << (to.shape[1] - 1).bit_length()):
        following = np.take_along_axis(to, here, axis=1)
        rank += following != here
        here = following
    return rank[..., None]


def _lists(n: int) -> list[Words]:
    """One list through all processors in order, backwards and shuffled; everybody alone; one ring."""
    rows = []
    for order in (np.arange(n), np.arange(n)[::-1], np.random.default_rng(n).permutation(n)):
        row = np.arange(n)
        row[order[:-1]] = order[1:]
        rows.append(row)
    rows += [np.arange(n), (np.arange(n) + 1) % n]
    return [np.array(rows, dtype=np.float64)[..., None]]


def _two_hops(inputs: Words) -> Outputs:
    found = np.zeros(inputs.shape)
    for row, letters in enumerate(inputs[..., 0]):
        for place in range(len(letters)):
            here = place
            for _ in range(HOPS):
                here = next((j for j in range(here, 0, -1) if letters[j - 1] == letters[here]), 0)
            found[row, place] = letters[here] if here else 0
    return found


def _components(inputs: Words) -> Outputs:
    """Join ends of edges one by one; in every component take away what nobody points to, until the ring is left."""
    found = np.zeros(inputs.shape)
    for row, neighbours in enumerate(inputs[..., 0].astype(int).tolist()):
        group = list(range(len(neighbours)))
        for i, j in enumerate(neighbours):
            old, new = group[i], group[j]
            group = [new if g == old else g for g in group]
        ring = set(range(len(neighbours)))
        while (smaller := {neighbours[i] for i in ring}) != ring:
            ring = smaller
        names = {group[i]: min(j for j in ring if group[j] == group[i]) for i in ring}
        found[row, :, 0] = [names[g] for g in group]
    return found


def _k_hops(inputs: Words) -> Outputs:
    """Look back place by place, k times."""
    found = np.full(inputs.shape, -2.0)
    for row, symbols in enumerate(inputs[..., 0]):
        for place in range(1, len(symbols)):
            here = place
            for _ in range(int(min(symbols[0], MOST_HOPS))):
                back = (j for j in range(here, 1, -1) if symbols[j - 1] == symbols[here])
                here = next(back, 0) if here else 0
            found[row, place] = symbols[here] if here else -1
    return found


def _published_hops(n: int) -> list[Words]:
    """As published: letters of which neighbours differ, from 5 and from 2, for every k."""
    draw = np.random.default_rng(n)
    rows = []
    for k in range(MOST_HOPS + 1):
        for alphabet in (2, 5):
            letters = draw.integers(0, alphabet) + draw.integers(1, alphabet, n).cumsum()
            rows.append(np.concatenate([[k], 1 + letters[1:] % alphabet]))
    return [np.array(rows, dtype=np.float64)[..., None]]


POINTERS = (
    Program(
        "list-ranking",
        "steps to the end of a linked list (pointer jumping)",
        list_ranking,
        lambda n: (Range(0, n - 1, whole=True),),
        _ranks,
        words=10,
        hard=_lists,
        longest=LONGEST,
    ),
    Program(
        "components",
        "connected components, each processor names one neighbour",
        components,
        lambda n: (Range(0, n - 1, whole=True),),
        _components,
        words=10,
        hard=_lists,
        longest=LONGEST,
    ),
    Program(
        "k-hop",
        "letter of a k-hop induction head, k in the first token",
        k_hop,
        (Range(0, SYMBOLS - 1, whole=True),),
        _k_hops,
        words=SYMBOLS + 1,
        hard=_published_hops,
        longest=LONGEST,
        shortest=2,
    ),
    Program(
        "two-hop",
        "letter of a 2-hop induction head",
        two_hop,
        (Range(1, LETTERS, whole=True),),
        _two_hops,
        words=8,
        longest=LONGEST,
    ),
)
