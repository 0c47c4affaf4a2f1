"""Programs whose addresses are data, on the machine: worked examples and other references than their own."""

import networkx
import numpy as np
import pytest
import torch

from ordinate.lab.programs.collection import PROGRAMS
from ordinate.lab.programs.machine import Machine
from ordinate.lab.tasks import make_task


def answers(name, rows):
    inputs = np.array(rows, dtype=np.float64)[..., None]
    program = PROGRAMS[name]
    found = Machine(inputs.shape[1], program.words).run(program.function, inputs).outputs
    assert (found == program.reference(inputs)).all()
    return found[..., 0].astype(int).tolist()


def test_components_are_named_by_the_least_processor_of_their_ring():
    # 0 -> 2 -> 3 -> 2 is one component with the ring 2 3; 1 is alone; 4 -> 5 -> 4.
    assert answers("components", [[2, 1, 3, 2, 5, 4]]) == [[2, 1, 2, 2, 4, 4]]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_components_are_those_of_the_graph(n):
    rows = np.random.default_rng(n).integers(0, n, (20, n))
    for neighbours, names in zip(rows, answers("components", rows), strict=True):
        graph = networkx.Graph([(i, int(j)) for i, j in enumerate(neighbours)])
        for component in networkx.connected_components(graph):
            assert len({names[i] for i in component}) == 1
        assert len(set(names)) == networkx.number_connected_components(graph)


def test_hops_are_counted_by_the_first_token():
    # a b a b c a, a = 1: one hop from the last a leads behind the a before it, to b; from there behind b, to a.
    letters = [1, 2, 1, 2, 3, 1]
    found = answers("k-hop", [[k, *letters] for k in range(4)])
    assert [row[-1] for row in found] == [1, 2, 1, 2]
    assert [row[5] for row in found] == [3, -1, -1, -1]
    assert {row[0] for row in found} == {-2}


def test_hops_are_those_of_the_task():
    task = make_task("k-hop", length=9)
    batch = task.sample(40, generator=torch.Generator().manual_seed(0))
    counts, letters = batch.input[:, :1] - 2, batch.input[:, 1:] - task.first_letter + 1
    wanted = torch.where(
        batch.target >= task.first_letter, batch.target - task.first_letter + 1, batch.target - 2
    )
    assert answers("k-hop", torch.cat([counts, letters], 1).numpy()) == wanted.tolist()
