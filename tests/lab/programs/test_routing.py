"""Benes networks route every permutation; messages with addresses in data arrive."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordinate.errors import OrdinateError
from ordinate.lab.programs.compiler.compile import compile_program
from ordinate.lab.programs.language import Range
from ordinate.lab.programs.machine import Machine
from ordinate.lab.programs.program import Program
from ordinate.lab.programs.routing import benes, benes_switches, fetch, send

SMALL = Range(-9, 9, whole=True)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_all_small_permutations(n):
    for order in itertools.permutations(range(n)):
        run = Machine(n, words=1).run(lambda x, order=order: benes(x, order), np.arange(n)[None])
        assert run.outputs.ravel().tolist() == list(order)


@given(st.integers(3, 7).flatmap(lambda k: st.permutations(range(2**k))))
def test_permutations_take_two_log_n_minus_one_stages(order):
    n = len(order)
    stages = benes_switches(order)
    assert len(stages) == 2 * (n.bit_length() - 1) - 1
    for stage in stages:
        assert (stage.cross == stage.cross[np.arange(n) ^ stage.step]).all()
    run = Machine(n, words=1).run(lambda x: benes(x, order), np.arange(n)[None])
    assert run.outputs.ravel().tolist() == list(order)


def test_a_permutation_of_the_machine_is_a_permutation_of_the_weights():
    order = np.random.default_rng(0).permutation(16).tolist()
    program = Program("benes", "", lambda x: benes(x, order), (Range(0, 15, whole=True),), lambda x: x)
    compiled = compile_program(program, 16)
    assert compiled(np.arange(16.0)[None, :, None]).ravel().tolist() == order
    assert compiled.costs.layers == 7


@pytest.mark.parametrize("order", [[0, 1, 2], [0, 0, 1, 2]])
def test_what_is_no_permutation_of_a_power_of_two_is_refused(order):
    with pytest.raises(OrdinateError, match="write permute instead"):
        benes_switches(order)


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_fetch_reads_any_address(n, seed):
    generator = np.random.default_rng(seed)
    values, address = generator.integers(-9, 10, (8, n)), generator.integers(0, n, (8, n))
    run = Machine(n, words=8).run(lambda x, a: fetch([x], a), np.stack([values, address], -1))
    assert (run.outputs[..., 0] == np.take_along_axis(values, address, 1)).all()
    k = (2 * n - 1).bit_length()
    assert run.traffic.rounds == k * (k + 1) + k


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_send_delivers_and_leaves_the_default(n, seed):
    generator = np.random.default_rng(seed)
    values = generator.integers(-9, 10, n)
    address = np.where(generator.random(n) < 0.3, n, generator.permutation(n))
    wanted = np.full(n + 1, 77)
    wanted[address] = values
    wanted = wanted[:n]
    run = Machine(n).run(lambda x, a: send(x, a, default=77), np.stack([values, address], -1)[None])
    assert run.outputs.ravel().tolist() == wanted.tolist()


@pytest.mark.parametrize(("body", "highest"), [(lambda x, a: fetch([x], a), 1), (send, 2)])
def test_the_weights_route_as_the_machine_does(body, highest):
    program = Program("route", "", body, (SMALL, Range(0, highest, whole=True)), lambda x: x, words=8)
    compiled = compile_program(program, 2)
    inputs = program.sample(2, 200, np.random.default_rng(0))
    assert np.array_equal(compiled(inputs), Machine(2).run(body, inputs).outputs)
    assert compiled.costs.layers <= compiled.costs.rounds + 2


def test_an_address_outside_the_machine_is_refused():
    program = Program("wild", "", lambda x: fetch([x], x), (Range(-9, -5, whole=True),), lambda x: x, words=8)
    with pytest.raises(OrdinateError, match="state a range that holds"):
        compile_program(program, 4)
