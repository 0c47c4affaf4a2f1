"""Every program of the library: worked examples, its reference, the machine, the weights; its depth."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.lab.programs.collection import PROGRAMS
from ordinate.lab.programs.collection.automata import automaton
from ordinate.lab.programs.collection.sorting import bitonic, odd_even
from ordinate.lab.programs.compiler.compile import Costs, compile_program, plan_program
from ordinate.lab.programs.language import Range
from ordinate.lab.programs.machine import Machine
from ordinate.lab.programs.program import Program
from ordinate.lab.programs.verify import verify

EXAMPLES = {
    "prefix-sum": ([3, -1, 4, 1], [3, 2, 6, 7]),
    "prefix-min": ([3, -1, 4, -5], [3, -1, -1, -5]),
    "prefix-max": ([3, -1, 4, 1], [3, 3, 4, 4]),
    "total": ([3, -1, 4], [6, 6, 6]),
    "largest": ([3, -1, 4], [4, 4, 4]),
    "window-sum": ([3, -1, 4, 1], [3, 2, 6, 4]),
    "window-max": ([5, -1, 4, 1], [5, 5, 5, 4]),
    "max-subarray": ([-2, 3, -1, 4, -9], [-2, 3, 3, 6, 6]),
    "parity": ([1, 0, 1, 1], [1, 1, 0, 1]),
    "histogram": ([2, 0, 2], [(1, 0, 2, 0)] * 3),
    "sort": ([3, -1, 4, 1, -5], [-5, -1, 1, 3, 4]),
    "merge-sort": ([3, -1, 4, 1, -5], [-5, -1, 1, 3, 4]),
    "median": ([3, -1, 4, 2], [2.5] * 4),
    "prefix-median": ([1, -2, 3, 2], [1, -0.5, 1, 1.5]),
    "kth-smallest": ([3, -1, 4, 1, -5], [1] * 5),
    "addition": ([(9, 1), (9, 0), (4, 2)], [(0, 1), (0, 1), (7, 0)]),  # 499 + 201
    "subtraction": ([(0, 1), (0, 0), (4, 2)], [(9, 1), (9, 1), (1, 0)]),  # 400 - 201
    "comparison": ([(1, 2), (3, 3), (5, 4)], [-1, -1, 1]),
    "several": ([(9, 9, 9, 9), (1, 2, 3, 4)], [(6, 3), (3, 1)]),  # 19 + 29 + 39 + 49
    "times-digit": ([(7, 6), (8, 0), (0, 0)], [2, 2, 5]),  # 87 * 6
    "times-three-digits": ([(9, 9), (9, 9), (0, 9), (0, 0), (0, 0)], [1, 0, 9, 8, 9]),  # 99 * 999
    "automaton": ([1, 1, 0, 1, 2, 0], [1, 2, 1, 2, 0, 0]),
    "rule-110": ([0] * 9 + [1], [0, 1, 1, 1, 1, 1, 1, 1, 0, 1]),
    "fft": ([(1, 0), (0, 0), (-1, 0), (0, 0)], [(0, 0), (2, 0), (0, 0), (2, 0)]),
    "list-ranking": ([1, 1], [1, 0]),
    "components": ([1, 0], [0, 0]),
    "k-hop": ([1, 4], [-2, -1]),
    "two-hop": ([1, 1, 1], [0, 1, 1]),
}
ROUTED = {"list-ranking", "components", "k-hop", "two-hop"}  # deep models: larger ones are in tests/slow
SLOWEST = {"components", "k-hop", "two-hop"}  # their weights are in tests/slow
ONE_FORMAT = ROUTED | {"automaton"}  # large weights: in float64 in tests/slow
LARGE = {"automaton", "prefix-median", "rule-110", "times-digit", "times-three-digits"}  # of 7 in tests/slow
SIZES = {torch.float32: (1, 3, 7), torch.float64: (4,)}


def words(rows):
    return np.array([[np.atleast_1d(row) for row in rows]], dtype=np.float64)


def test_every_program_has_an_example():
    assert set(EXAMPLES) == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_worked_examples(name):
    given_words, wanted = (words(rows) for rows in EXAMPLES[name])
    program = PROGRAMS[name]
    n = given_words.shape[1]
    assert program.reference(given_words) == pytest.approx(wanted)
    assert Machine(n, max(program.words, len(program.ranges(n)))).run(
        program.function, given_words
    ).outputs == (pytest.approx(wanted))
    if name not in ONE_FORMAT:  # whose weights are compared with the machine below or in tests/slow
        assert compile_program(program, n)(given_words) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for name in PROGRAMS
        for dtype in SIZES
        if name not in (SLOWEST if dtype == torch.float32 else ONE_FORMAT)
    ],
    ids=str,
)
def test_reference_machine_and_weights_agree(name, dtype):
    sizes = (2,) if name in ONE_FORMAT else SIZES[dtype]
    for n in sizes if name not in LARGE else [n for n in sizes if n < 7]:
        assert_weights_agree(PROGRAMS[name], n, dtype)


def assert_weights_agree(program, n, dtype):
    if n < program.shortest or (program.only_powers and n & (n - 1)):
        return
    found = verify(program, n, count=40, dtype=dtype, seed=n)
    assert found.holds, (n, found.differences, found.bound)
    assert all(difference.dense is not None for difference in found.differences)
    if all(known.whole for known in program.ranges(n)):
        assert found.worst == found.bound == 0
    if program.name in ROUTED:  # planning them is most of the work
        assert_within_the_theorem(program, found.compiled.costs)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ROUTED])
def test_depth_and_heads_are_within_the_theorem(name):
    assert_within_the_theorem(PROGRAMS[name], Costs.of(*plan_program(PROGRAMS[name], 8)))


def assert_within_the_theorem(program, costs):
    assert costs.layers <= costs.layer_bound
    assert costs.words <= program.words
    assert costs.heads <= costs.head_bound


@given(st.integers(1, 9))
def test_networks_sort_all_zeros_and_ones(n):
    """A network of comparisons that sorts zeros and ones sorts everything (Knuth, volume 3, 5.3.4)."""
    for network in (bitonic, odd_even):
        rows = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        for stage in network(n):
            assert len({place for pair in stage for place in pair}) == 2 * len(stage)
            for low, high in stage:
                rows[:, [low, high]] = np.sort(rows[:, [low, high]], axis=1)
        assert (np.diff(rows, axis=1) >= 0).all()


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 9), st.data())
@settings(max_examples=8)
def test_any_finite_automaton(states, letters, n, data):
    to = st.integers(0, states - 1)
    row = st.lists(to, min_size=letters, max_size=letters)
    transitions = data.draw(st.lists(row, min_size=states, max_size=states))
    text = data.draw(st.lists(st.integers(0, letters - 1), min_size=n, max_size=n))
    start = data.draw(to)
    program = Program(
        "own", "", automaton(transitions, start), (Range(0, letters - 1, whole=True),), lambda x: x, states**2
    )
    state, wanted = start, []
    for letter in text:
        state = transitions[state][letter]
        wanted.append(state)
    assert compile_program(program, n)(words(text)).ravel().tolist() == wanted
