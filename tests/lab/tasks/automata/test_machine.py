"""Machines against an obvious loop, brute force over words, and Python."""

import time
from itertools import product

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.tasks.automata import Machine
from ordinate.lab.tasks.automata.machine import FEW, scan

seeds = st.integers(0, 2**31)


def rows(table):
    return tuple(map(tuple, table))


@st.composite
def machines(draw, most=6, symbols=None, outputs=2):
    states, many = draw(st.integers(1, most)), symbols or draw(st.integers(1, 3))

    def table(below):
        row = st.lists(st.integers(0, below - 1), min_size=many, max_size=many)
        return rows(draw(st.lists(row, min_size=states, max_size=states)))

    names = tuple("abcdef"[:many]), tuple("uvwxyz"[:outputs])
    return Machine(*names, table(states), table(outputs), draw(st.integers(0, states - 1)))


@st.composite
def acceptors(draw, most=6):
    states = draw(st.integers(1, most))
    state = st.integers(0, states - 1)
    step = draw(st.lists(st.lists(state, min_size=2, max_size=2), min_size=states, max_size=states))
    return "ab", step, draw(state), draw(st.sets(state))


def slow(machine, word):
    state, said = machine.start, []
    for symbol in word:
        said.append(machine.emit[state][symbol])
        state = machine.step[state][symbol]
    return said


def words_up_to(machine, length):
    return (word for n in range(1, length + 1) for word in product(range(len(machine.symbols)), repeat=n))


@given(machines(), seeds, st.integers(1, 5), st.integers(0, 700))
def test_run_is_the_obvious_loop(machine, seed, batch, tokens):
    x = torch.randint(len(machine.symbols), (batch, tokens), generator=torch.Generator().manual_seed(seed))
    assert machine.run(x).tolist() == [slow(machine, word) for word in x.tolist()]
    reached = machine.trace(x)
    before = torch.cat([torch.full((batch, 1), machine.start), reached], 1)[:, :-1]
    assert torch.equal(torch.tensor(machine.step)[before, x], reached)


@given(seeds, st.integers(1, 30), st.integers(1, 400), st.sampled_from([1, 7, FEW]))
def test_states_are_the_same_however_places_are_cut(seed, states, places, batch):
    g = torch.Generator().manual_seed(seed)
    reached = torch.randint(states, (states, 3), generator=g)
    words = torch.randint(3, (batch, places), generator=g)
    state, expected = torch.zeros(batch, dtype=torch.long), []
    for word in words.T:
        expected.append(state)
        state = reached[state, word]
    assert torch.equal(scan(reached, 0, words), torch.stack(expected, 1))


@pytest.mark.parametrize(("states", "symbols"), [(2, 100), (5, 9), (120, 2)])
def test_a_million_tokens(states, symbols):
    g = torch.Generator().manual_seed(0)
    step, emit = (torch.randint(states, (states, symbols), generator=g).tolist() for _ in range(2))
    names = [tuple(f"{letter}{n}" for n in range(many)) for letter, many in (("s", symbols), ("o", states))]
    machine = Machine(*names, rows(step), rows(emit), 0)
    x = torch.randint(symbols, (1, 10**6), generator=g)
    machine.run(x[:, :9])
    start = time.process_time()
    said = machine.run(x)
    assert time.process_time() - start < 2
    assert said[0, -5000:].tolist() == slow(machine, x[0].tolist())[-5000:]


def test_nothing_is_read():
    machine = Machine.acceptor("a", [[0]])
    assert machine.run(torch.zeros(3, 0, dtype=torch.long)).shape == (3, 0)
    assert machine.run(torch.zeros(0, 3, dtype=torch.long)).shape == (0, 3)


@given(machines(outputs=3))
def test_minimised_machines_answer_alike_and_are_smallest(machine):
    small = machine.minimised()
    assert small.states <= machine.states
    for word in words_up_to(machine, 5):
        assert slow(small, word) == slow(machine, word)
    assert small.minimised() == small
    # In a minimal machine any two states are told apart by some word, and all are reached.
    for one in range(small.states):
        for other in range(one):
            pair = (Machine(small.symbols, small.outputs, small.step, small.emit, s) for s in (one, other))
            assert next(pair).equals(next(pair)) is not None
    assert set(
        small.trace(torch.tensor(list(product(range(len(small.symbols)), repeat=6)))).unique().tolist()
    ) | {small.start} == set(range(small.states))


@given(machines(most=4, symbols=2), machines(most=4, symbols=2))
def test_a_word_that_tells_machines_apart_is_a_shortest_one(one, other):
    found = one.equals(other)
    shortest = next((w for w in words_up_to(one, 8) if slow(one, w) != slow(other, w)), None)
    assert (found is None) == (shortest is None)  # 4 and 4 states: 7 symbols tell them apart
    if found:
        assert len(found) == len(shortest)
        assert one.answers(found)[-1] != other.answers(found)[-1]
        assert one.answers(found)[:-1] == other.answers(found)[:-1]


@given(machines(), machines())
def test_equal_machines_have_the_same_minimised_one(one, other):
    assume(one.symbols == other.symbols)
    assert (one.equals(other) is None) == (one.minimised() == other.minimised())


def test_symbols_and_outputs_are_compared_by_name():
    one = Machine(("a", "b"), ("0", "1"), ((0, 0),), ((0, 1),), 0)
    other = Machine(("b", "a"), ("1", "0"), ((0, 0),), ((0, 1),), 0)
    assert one.equals(other) is None
    with pytest.raises(OrdinateError, match="'b' is read by one of them: give both the same symbols"):
        one.equals(Machine(("a", "c"), ("0", "1"), ((0, 0),), ((0, 1),), 0))


@given(acceptors(), acceptors(), st.lists(st.sampled_from("ab"), max_size=8))
def test_acceptors_are_joined_and_turned(one, other, word):
    one, other = Machine.acceptor(*one), Machine.acceptor(*other)
    assert one.complement().accepts(word) != one.accepts(word)
    assert one.product(other, min).accepts(word) == (one.accepts(word) and other.accepts(word))
    assert one.product(other, max).accepts(word) == (one.accepts(word) or other.accepts(word))
    assert one.complement().complement().equals(one) is None
    assert one.answers(["^", *word])[-1] == str(int(one.accepts(word)))


@given(machines(), st.lists(st.integers(0, 5), max_size=6), st.lists(st.integers(0, 5), max_size=6))
def test_words_are_transition_functions(machine, one, other):
    one, other = ([symbol % len(machine.symbols) for symbol in word] for word in (one, other))
    first, second = machine.function(one), machine.function(other)
    assert torch.equal(machine.function(one + other), second[first])
    assert all(torch.equal(machine.function([s]), f) for s, f in enumerate(machine.functions()))
    state = machine.start
    for symbol in one:
        state = machine.step[state][symbol]
    assert first[machine.start] == state


@given(machines(most=3))
def test_the_monoid_is_that_of_all_words(machine):
    functions = {tuple(machine.function(word).tolist()) for word in words_up_to(machine, 6)}
    functions.add(tuple(range(machine.states)))
    assert machine.monoid() >= len(functions)
    if machine.monoid() <= 6:  # then words of 6 symbols have all functions
        assert machine.monoid() == len(functions)


def test_a_monoid_has_a_limit():
    machine = Machine.acceptor("ab", [[1, 1], [2, 0], [0, 2]], 0, [0])
    assert machine.monoid() == 6
    with pytest.raises(OrdinateError, match="more than 5 transition functions: write a larger limit"):
        machine.monoid(limit=5)


@pytest.mark.parametrize(
    ("symbols", "outputs", "step", "emit", "start", "message"),
    [
        ((), ("0",), [[]], [[]], 0, "a machine has no symbols"),
        (("a",), (), [[0]], [[0]], 0, "a machine has no outputs"),
        (("a", "a"), ("0",), [[0, 0]], [[0, 0]], 0, "'a' is there twice in symbols"),
        (("a b",), ("0",), [[0]], [[0]], 0, "symbols are texts without spaces, got 'a b'"),
        (("a",), ("0",), [], [], 0, "a row of step and a row of emit for every state, got 0 and 0"),
        (("a",), ("0",), [[0]], [], 0, "got 1 and 0: write as many of both, at least one"),
        (
            ("a", "b"),
            ("0",),
            [[0, 0], [1]],
            [[0, 0]] * 2,
            0,
            "state 1 has no state on 'b' in step: write one, 0",
        ),
        (("a", "b"), ("0",), [[0, 0]], [[0]], 0, "state 0 has no output on 'b' in emit: write one, 0 to 0"),
        (("a",), ("0",), [[0, 0]], [[0]], 0, "state 0 has 2 entries in step for 1 symbols"),
        (
            ("a", "b"),
            ("0",),
            [[0, 5]],
            [[0, 0]],
            0,
            "step of state 0 on 'b' is 5, an unknown state: write 0 to 0",
        ),
        (("a", "b"), ("0",), [[0, 0]], [[0, 1]], 0, "emit of state 0 on 'b' is 1, an unknown output"),
        (("a",), ("0",), [[0]], [[0]], 3, "start = 3 is no state: write 0 to 0"),
    ],
)
def test_what_is_no_machine_is_refused_in_one_line(symbols, outputs, step, emit, start, message):
    with pytest.raises(OrdinateError, match=message) as error:
        Machine(symbols, outputs, rows(step), rows(emit), start)
    assert "\n" not in str(error.value)


MEALY = Machine(("a",), ("u",), ((0,),), ((0,),), 0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: Machine.acceptor("a", [[0]], 0, [4]), "accepting state 4 is unknown: write 0 to 0"),
        (
            lambda: Machine.acceptor("^a", [[0, 0]]),
            "'^' is added to the symbols of an acceptor: leave it out",
        ),
        (lambda: Machine.acceptor("ab", [[0]]), "state 0 has no state on 'b' in step"),
        (
            lambda: Machine.acceptor("ab", [[0, 0]]).indices("c"),
            "symbol 'c' is unknown: this machine reads ^ a b",
        ),
        (lambda: MEALY.complement(), "this machine is no acceptor: make one with Machine.acceptor"),
        (
            lambda: MEALY.run(torch.ones(1, 1).long()),
            "symbols are indices 0 to 0 of this machine, got 1 to 1",
        ),
    ],
)
def test_what_a_machine_cannot_do_is_refused_in_one_line(asked, message):
    with pytest.raises(OrdinateError) as error:
        asked()
    assert message in str(error.value)
    assert "\n" not in str(error.value)
