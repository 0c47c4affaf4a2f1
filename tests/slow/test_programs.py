"""How far compiled programs reach: exact at full length, compiled and verified in under a minute."""

import time

import pytest
import torch

from ordinate.lab.programs.collection import PROGRAMS
from ordinate.lab.programs.verify import verify
from tests.lab.programs.test_collection import LARGE, assert_weights_agree, assert_within_the_theorem

REACH = {
    "addition": 1000,
    "sort": 1024,
    "median": 1024,
    "prefix-sum": 4096,
    "automaton": 4096,
}


@pytest.mark.parametrize("name", REACH)
def test_exact_at_full_length(name):
    begun = time.perf_counter()
    found = verify(PROGRAMS[name], REACH[name])
    assert found.holds
    assert found.worst == found.bound == 0
    assert found.differences[0].inputs == 200
    print(f"{name}: {time.perf_counter() - begun:.1f} s")


@pytest.mark.parametrize("name", PROGRAMS)
def test_exact_on_many_inputs(name):
    small = {"automaton": 64, "list-ranking": 8, "components": 8, "two-hop": 16, "k-hop": 16}
    found = verify(PROGRAMS[name], min(small.get(name, 256), PROGRAMS[name].longest))
    assert found.holds
    assert found.differences[0].inputs == 10_000


@pytest.mark.parametrize("name", ["two-hop", "k-hop"])
def test_routed_programs_reach_256_processors(name):
    found = verify(PROGRAMS[name], 256, count=10)
    assert found.holds
    assert found.worst == found.bound == 0


@pytest.mark.parametrize("name", sorted(LARGE))
def test_reference_machine_and_large_weights_agree(name):
    assert_weights_agree(PROGRAMS[name], 7, torch.float32)


@pytest.mark.parametrize("name", ["automaton", "list-ranking", "components", "two-hop", "k-hop"])
def test_large_weights_in_float64(name):
    found = verify(PROGRAMS[name], 4, count=100, dtype=torch.float64)
    assert found.holds
    assert found.worst == found.bound == 0
    assert_within_the_theorem(PROGRAMS[name], found.compiled.costs)
