"""Programs whose addresses are data: they route messages by sorting (`ordinate.programs.routing`)."""

import numpy as np

from ordinate.programs.language import OWN, Range, Value, maximum, powers, select, shift
from ordinate.programs.program import Outputs, Program, Words
from ordinate.programs.routing import fetch

LETTERS = 4
HOPS = 2
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


def last_after(x: Value) -> Value:
    """find(i) = the largest j <= i with x_{j-1} = x_i, 0 where there is none.

    For every letter a scan keeps the last place behind it; a processor reads the one of its own letter.
    """
    place = x.constant(lambda i: i)
    before = shift(x, 1)
    found = []
    for letter in range(1, LETTERS + 1):
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
    jump = pointer = last_after(x)
    for _ in range(HOPS - 1):
        (pointer,) = fetch([jump], pointer)
    (letter,) = fetch([x.scaled(lambda i: float(i > 0))], pointer)
    return letter


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
        "two-hop",
        "letter of a 2-hop induction head",
        two_hop,
        (Range(1, LETTERS, whole=True),),
        _two_hops,
        words=8,
        longest=LONGEST,
    ),
)
