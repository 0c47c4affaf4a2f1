"""The machine computes, counts rounds and words, and keeps to its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.programs.language import (
    Range,
    broadcast,
    butterfly,
    gather,
    permute,
    powers,
    receive,
    shift,
)
from ordinate.lab.programs.machine import Machine


def all_sum(x):
    for step in powers(x.n):
        x = x + butterfly(x, step)
    return x


def test_a_butterfly_sums_in_log_n_rounds():
    run = Machine(8, words=1).run(all_sum, [[1, 2, 3, 4, 5, 6, 7, 8]])
    assert run.outputs.shape == (1, 8, 1)
    assert (run.outputs == 36).all()
    assert (run.traffic.rounds, run.traffic.words, run.traffic.most) == (3, 24, 1)


@given(st.integers(1, 20), st.data())
def test_broadcast_takes_one_word_a_round(n, data):
    root = data.draw(st.integers(0, n - 1))
    run = Machine(n, words=1).run(lambda x: broadcast(x, root), np.arange(n)[None])
    assert (run.outputs == root).all()
    assert run.traffic.rounds == len(powers(n))


def test_independent_receives_share_a_round_and_dependent_ones_do_not():
    def body(x):
        return shift(x, 1) + shift(x, 2) + shift(shift(x, 1), 1)

    traffic = Machine(4).run(body, [[1, 2, 3, 4]]).traffic
    assert traffic.rounds == 2
    assert traffic.received[0].tolist() == [0, 2, 3, 3]  # the first step of the third one is in round 1


def test_what_stays_is_not_sent():
    assert Machine(4).run(lambda x: receive(x, lambda i: i), [[1, 2, 3, 4]]).traffic.words == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda x: gather(x, [2, 2, 2, 2]), "round 1: processor 2 sends 3 words, but a processor has 2"),
        (
            lambda x: sum(receive(x, [k, None, None, None]) for k in (1, 2, 3)),
            "round 1: processor 0 receives 3 words, but a processor has 2",
        ),
        (lambda x: gather(shift(x, 1), [0, 0, 0, 0]), "round 2: processor 0 sends 3 words"),
    ],
)
def test_too_many_words_name_the_round_and_the_processor(body, words):
    with pytest.raises(OrdinateError, match=r"test_machine\.py, line") as refused:
        Machine(4, words=2).run(body, [[1, 2, 3, 4]])
    assert words in str(refused.value)


def test_a_permutation_must_be_one():
    assert Machine(3).run(lambda x: permute(x, [2, 0, 1]), [[5, 6, 7]]).outputs.ravel().tolist() == [7, 5, 6]
    with pytest.raises(OrdinateError, match="every processor once"):
        Machine(3).run(lambda x: permute(x, [2, 0, 2]), [[5, 6, 7]])


def test_stated_ranges_are_checked():
    with pytest.raises(
        OrdinateError, match=r"stated range is whole numbers in \[0, 5\], but values are 1 \.\. 6"
    ):
        Machine(2).run(lambda x: x.within(Range(0, 5, whole=True)), [[1, 6]])


@pytest.mark.parametrize("inputs", [[[1, 2]], [1, 2, 3], [[[[1]]]]])
def test_inputs_have_a_number_for_every_processor(inputs):
    with pytest.raises(OrdinateError, match="inputs must be"):
        Machine(3).run(lambda x: x, inputs)


def test_a_machine_has_processors_and_words():
    for n, words in ((0, 1), (1, 0)):
        with pytest.raises(OrdinateError, match="at least 1 processor"):
            Machine(n, words)
    with pytest.raises(OrdinateError, match="2 input words"):
        Machine(1, 1).run(lambda x, y: x, [[[1, 2]]])
