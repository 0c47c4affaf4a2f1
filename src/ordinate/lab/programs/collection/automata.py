"""Finite automata as a scan of transition maps, and a cellular automaton."""

from collections.abc import Callable, Sequence

import numpy as np

from ordinate.lab.programs.language import FLAG, Range, Value, all_of, lookup, powers, shift
from ordinate.lab.programs.program import Outputs, Program, Words

FLOORS = 5
STEPS = 8
RULE = [(110 >> k) & 1 for k in range(8)]


def automaton(transitions: Sequence[Sequence[int]], start: int = 0) -> Callable[[Value], Value]:
    """The program of any finite automaton: transitions[state][letter] is the next state.

    The map of a stretch of letters is a table of yes and no, m[s][t]: from s to t. Stretches a, then b, join as
    m[s][t] = sum over k of (a[s][k] and b[k][t]), of which at most one holds; nothing changes nothing (s = t).
    """
    states = range(len(transitions))

    def run(x: Value) -> Value:
        maps = [[lookup(x, [float(to == t) for to in transitions[s]]) for t in states] for s in states]
        for step in powers(x.n):
            before = [[shift(maps[s][t], step, float(s == t)) for t in states] for s in states]
            maps = [
                [sum_of_exclusive([all_of(before[s][k], maps[k][t]) for k in states]) for t in states]
                for s in states
            ]
        first, *others = (t * maps[start][t] for t in states)
        return sum(others, first).within(Range(0, len(transitions) - 1, whole=True))

    return run


def sum_of_exclusive(flags: list[Value]) -> Value:
    """Whether one of several conditions holds that exclude each other: their sum."""
    return sum(flags[1:], flags[0]).within(FLAG)


def lift(floors: int) -> list[list[int]]:
    """A lift between floors: letter 0 goes down, 1 up, 2 back to the ground floor; it stops at the ends."""
    return [[max(floor - 1, 0), min(floor + 1, floors - 1), 0] for floor in range(floors)]


def rule_110(x: Value) -> Value:
    """Eight steps of the cellular automaton of rule 110, with zeros outside."""
    for _ in range(STEPS):
        x = lookup(4 * shift(x, 1) + 2 * x + shift(x, -1), RULE)
    return x


def _lift(inputs: Words) -> Outputs:
    floor, found = np.zeros(len(inputs)), []
    for letter in np.moveaxis(inputs[..., 0], 1, 0):
        floor = np.where(letter == 2, 0, np.clip(floor + np.where(letter == 1, 1, -1), 0, FLOORS - 1))
        found.append(floor)
    return np.stack(found, axis=1)[..., None]


def _rule_110(inputs: Words) -> Outputs:
    cells = inputs[..., 0].astype(bool)
    for _ in range(STEPS):
        left = np.pad(cells, ((0, 0), (1, 0)))[:, :-1]
        right = np.pad(cells, ((0, 0), (0, 1)))[:, 1:]
        cells = (cells | right) & ~(left & cells & right)
    return cells.astype(np.float64)[..., None]


def _runs(n: int) -> list[Words]:
    """One letter only, one letter then another, and alternation."""
    place = np.arange(n)
    rows = [np.where(place < n // 2, a, b) for a in range(3) for b in range(3)]
    rows += [np.where(place % 2 == 0, a, b) for a in range(3) for b in range(3)]
    return [np.array(rows, dtype=np.float64)[..., None]]


AUTOMATA = (
    Program(
        "automaton",
        "floor of a lift of five floors (letters: down, up, ground)",
        automaton(lift(FLOORS)),
        (Range(0, 2, whole=True),),
        _lift,
        words=FLOORS * FLOORS,
        hard=_runs,
    ),
    Program("rule-110", "eight steps of the cellular automaton", rule_110, (FLAG,), _rule_110, words=2),
)
